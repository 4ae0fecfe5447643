"""Gymnasium environments of cloth for learning robots: tasks, grippers and cameras.

They need ``pip install 'weft[gym]'``. ``env("fold")`` builds one environment, ``vector_env("fold",
16)`` many in one batch. Read ``tasks`` first (scene, start, observation, reward and success of each
task) with ``metrics``, then ``grippers``, ``camera_settings`` and ``rig`` (worlds with cloth,
grippers and cameras as one ``weft.batch``). The environments themselves are ``cloth_env`` and
``cloth_vector_env``; ``registration`` registers tasks with Gymnasium. The folder ``scenes`` has the
scene files of the tasks.
"""

from typing import TYPE_CHECKING

from weft.base.errors import WeftError
from weft.base.runtime_types import checked
from weft.base.trees import YamlMapping
from weft.io.extra import optional
from weft.plugins.robots.cameras.camera_sensor import CameraSensor

if TYPE_CHECKING:
    from weft.plugins.robots.learning.cloth_env import ClothEnv
    from weft.plugins.robots.learning.cloth_vector_env import ClothVectorEnv


@checked(WeftError)
def env(
    task: str,
    *,
    set: YamlMapping | None = None,
    vary: YamlMapping | None = None,
    seed: int = 0,
    variant: int = 0,
    steps: int = 60,
    camera: CameraSensor | None = None,
    discount: float = 0.99,
    render_mode: str | None = None,
) -> "ClothEnv":
    """Build a Gymnasium environment (``docs/guides/robots.md``).

    Args:
        task: ``grasp``, ``fold``, ``flatten``, ``fold_tee``, ``fold_trousers``, ``drape``,
            ``hang``, ``dress``, or one of your own.
        set: fields of the task's scene by path (``{"cloth.fabric": "silk"}``); those that begin
            with ``camera.`` are ``CameraSettings``, and give it a camera.
        vary: distributions of such fields in the words of a sweep, ``{"contact.friction": {"from":
            0.2, "to": 0.6}}``, in addition to the task's own.
        seed: of the values that are drawn from the distributions.
        variant: number of the draw; environment k of ``vector_env`` has the draw of variant k.
        steps: after which an episode is truncated.
        camera: a calibrated camera, in place of one by fields; None: no pictures.
        discount: γ of the learner. The reward of a step has γ Φ(s') - Φ(s) in addition, with the
            potential Φ of the task, and the best policy stays the same for a learner with this γ.
        render_mode: ``rgb_array``, or None.

    Raises:
        WeftError: no such task, field or value, or Gymnasium is not installed.
    """
    optional("gymnasium", "gym", "environments", WeftError)
    from weft.plugins.robots.learning.cloth_env import ClothEnv
    from weft.plugins.robots.learning.rig import EnvSettings

    settings = EnvSettings(
        task=task,
        set=set or {},
        vary=vary or {},
        seed=seed,
        steps=steps,
        camera=camera,
        discount=discount,
    )
    return ClothEnv(settings, variant, render_mode)


@checked(WeftError)
def vector_env(
    task: str,
    num_envs: int,
    *,
    set: YamlMapping | None = None,
    vary: YamlMapping | None = None,
    seed: int = 0,
    steps: int = 60,
    camera: CameraSensor | None = None,
    discount: float = 0.99,
    processes: int | None = None,
) -> "ClothVectorEnv":
    """Build many environments that are one ``weft.batch``.

    Args:
        task, set, vary, seed, steps, camera, discount: as those of ``env``.
        num_envs: number of environments. Their scenes differ as ``vary`` says.
        processes: among which the environments are divided; None: one for each core.

    Raises:
        WeftError: as ``env``, or fewer than one environment.
    """
    optional("gymnasium", "gym", "environments", WeftError)
    from weft.plugins.robots.learning.cloth_vector_env import ClothVectorEnv
    from weft.plugins.robots.learning.rig import EnvSettings

    settings = EnvSettings(
        task=task,
        set=set or {},
        vary=vary or {},
        seed=seed,
        steps=steps,
        camera=camera,
        discount=discount,
    )
    return ClothVectorEnv(settings, num_envs, processes)
