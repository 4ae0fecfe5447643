"""Schema of a body in the published layout of SMPL, with a motion in that of AMASS."""

from pathlib import Path

import numpy as np
from pydantic import Field

from weft.base.schema.quantities import Degrees, Time
from weft.contact import Body, BodyFrames
from weft.plugins.garments.mannequin.smpl import animate, read_motion, read_smpl, stand
from weft.scene.field_schema import FieldBlock


class SmplBlock(FieldBlock):
    """A person of SMPL, SMPL-H or SMPL-X, from files that you have (docs/guides/smpl.md).

    Without a motion the body stands on y = 0 and looks along +z.
    """

    file: str = Field(
        description="an .npz of the model: v_template, shapedirs, posedirs, J_regressor, weights, "
        "kintree_table, f"
    )
    betas: list[float] | None = Field(
        None, description="shape of the body; none: the motion's, or the mean body"
    )
    arms: Degrees = Field(
        0.0,
        ge=0,
        le=85,
        description="[degrees] angle of the arms below horizontal in the rest pose",
    )
    motion: str | None = Field(
        None, description="an .npz of AMASS: poses, trans, mocap_framerate; its z axis is up"
    )
    hold: Time = Field(0.0, description="[s] time in the rest pose at the start")
    blend: Time = Field(1.0, description="[s] time from the rest pose into the motion")
    fps: float = Field(
        60.0, ge=10, le=1000, description="[1/s] approximate frame rate of the stored motion"
    )

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the model and its motion."""
        return (self.file,) if self.motion is None else (self.file, self.motion)

    def load(self, folder: Path, name: str) -> Body:
        """Load the body; after the last frame it stays as it is."""
        model, arms = read_smpl(folder / self.file), float(np.radians(self.arms))
        betas = self.betas or []
        if self.motion is None:
            return Body(stand(model, betas, arms), model.faces, None, name)
        motion = read_motion(folder / self.motion, len(model.parents))
        if self.betas is None:
            betas = motion.betas[: model.shapes.shape[2]].tolist()
        rest = {"arms": arms, "hold": self.hold, "blend": self.blend}
        times, x = animate(model, motion, betas, fps=self.fps, **rest)
        return Body(x[0], model.faces, None, name, None, BodyFrames(times, x, hold=True))
