"""Cloth for robots that learn: grasp, fold and flatten, as Gymnasium environments (``pip install
'weft[gym]'``).

``env("fold")`` is one of them, ``vector_env("fold", 16)`` many in one batch.
"""

from typing import TYPE_CHECKING

from weft.base.errors import WeftError
from weft.base.runtime_types import checked

if TYPE_CHECKING:
    from weft.robotics.cloth_env import ClothEnv
    from weft.robotics.cloth_vector_env import ClothVectorEnv


@checked(WeftError)
def env(
    task: str,
    *,
    size: int = 17,
    fabric: str = "cotton",
    steps: int = 60,
    render_mode: str | None = None,
) -> "ClothEnv":
    """A Gymnasium environment (``docs/batch.md``).

    Args:
        task: ``grasp``, ``fold`` or ``flatten``.
        size: vertices along a side of the cloth.
        fabric: its name.
        steps: after which an episode is cut off.
        render_mode: ``rgb_array``, or None.

    Raises:
        WeftError: no such task, or Gymnasium is not installed.
    """
    _need_gymnasium()
    from weft.robotics.cloth_env import ClothEnv

    return ClothEnv(task, size=size, fabric=fabric, steps=steps, render_mode=render_mode)


@checked(WeftError)
def vector_env(
    task: str,
    num_envs: int,
    *,
    size: int = 17,
    fabric: str = "cotton",
    steps: int = 60,
    processes: int = 1,
) -> "ClothVectorEnv":
    """Many of them, stepped together as one ``weft.batch``, of so many processes.

    Raises:
        WeftError: no such task, fewer than one environment, or Gymnasium is not installed.
    """
    _need_gymnasium()
    from weft.robotics.cloth_vector_env import ClothVectorEnv

    return ClothVectorEnv(
        task, num_envs, size=size, fabric=fabric, steps=steps, processes=processes
    )


def _need_gymnasium() -> None:
    try:
        import gymnasium  # noqa: F401
    except ImportError as error:
        raise WeftError(
            "environments",
            got="no gymnasium",
            expected="the package gymnasium",
            hint="pip install 'weft[gym]'",
        ) from error
