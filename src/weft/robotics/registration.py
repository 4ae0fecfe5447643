"""Registration of the environments with Gymnasium, when this module is imported.

Gymnasium imports the module itself: ``gymnasium.make("weft.robotics.registration:weft/Fold-v0")``.
"""

import gymnasium

from weft.robotics.tasks import TASKS

for _name in TASKS:
    gymnasium.register(
        f"weft/{_name.capitalize()}-v0",
        entry_point="weft.robotics.cloth_env:ClothEnv",
        vector_entry_point="weft.robotics.cloth_vector_env:ClothVectorEnv",
        kwargs={"task": _name},
    )
