"""Registration of tasks with Gymnasium, when this module is imported.

Gymnasium imports the module itself:
``gymnasium.make("weft.plugins.robots.learning.registration:weft/Fold-v0")``.
"""

import gymnasium

from weft.plugins.robots.learning.tasks import TASKS, Task


def register(name: str, task: type[Task]) -> None:
    """Register a task, for ``weft.robotics.env(name)`` and ``gymnasium.make("weft/Name-v0")``.

    Args:
        name: such as ``fold_tee``, which Gymnasium knows as ``weft/FoldTee-v0``.
        task: its class.
    """
    TASKS[name] = task
    gymnasium.register(
        f"weft/{name.title().replace('_', '')}-v0",
        entry_point="weft.plugins.robots.learning:env",
        vector_entry_point="weft.plugins.robots.learning:vector_env",
        kwargs={"task": name},
    )


for _name in TASKS:
    register(_name, TASKS[_name])
