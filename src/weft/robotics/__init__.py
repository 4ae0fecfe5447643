"""Gymnasium environments of cloth for learning robots: grasp, fold and flatten.

They need ``pip install 'weft[gym]'``. ``env("fold")`` builds one environment, ``vector_env("fold",
16)`` many in one batch. Read ``tasks`` first (start, reward and goal of each task), then
``grippers`` and ``rig`` (tables with cloth and grippers as one ``weft.batch``). The environments
themselves are ``cloth_env`` and ``cloth_vector_env``; ``spaces`` has their spaces, and
``registration`` registers them with Gymnasium.
"""

from typing import TYPE_CHECKING

from weft.base.errors import WeftError
from weft.base.runtime_types import checked
from weft.io.extra import optional

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
    """Build a Gymnasium environment (``docs/robots.md``).

    Args:
        task: ``grasp``, ``fold`` or ``flatten``.
        size: vertices along a side of the cloth.
        fabric: its name.
        steps: after which an episode is truncated.
        render_mode: ``rgb_array``, or None.

    Raises:
        WeftError: no such task, or Gymnasium is not installed.
    """
    optional("gymnasium", "gym", "environments", WeftError)
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
    processes: int | None = None,
) -> "ClothVectorEnv":
    """Build many environments that are stepped together as one ``weft.batch``.

    Args:
        task: ``grasp``, ``fold`` or ``flatten``.
        num_envs: number of environments.
        size: vertices along a side of the cloth.
        fabric: its name.
        steps: after which an episode is truncated.
        processes: among which the environments are divided; None: one for each core.

    Raises:
        WeftError: no such task, fewer than one environment, or Gymnasium is not installed.
    """
    optional("gymnasium", "gym", "environments", WeftError)
    from weft.robotics.cloth_vector_env import ClothVectorEnv

    return ClothVectorEnv(
        task, num_envs, size=size, fabric=fabric, steps=steps, processes=processes
    )
