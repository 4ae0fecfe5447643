"""The drape or the grasp in MuJoCo: `elastic2d`, the `discrete` integrator, and flag `ipc`.

Stretch and bending are linen's; the law is isotropic, so that shear is stiffer than in cloth.
Contacts of flag `ipc` are without friction. Grasped vertices are connected to a body that moves.
"""

import mujoco
from exchange import read

d = read()
thickness = (12 * d.bending / d.stretch) ** 0.5  # of the plate that stretches and bends so
young = d.stretch / thickness
points = " ".join(f"{v:.17g}" for v in d.cloth.ravel())
elements = " ".join(str(k) for k in d.faces.ravel())
ball = f'<geom type="sphere" size="{d.radius}" pos="0 {d.height} 0"/>' if d.radius else ""
hand = '<body name="hand" mocap="true"/>' if len(d.held) else ""
held = " ".join(f'<connect body1="cloth_{k}" body2="hand" anchor="0 0 0"/>' for k in d.held)
XML = f"""
<mujoco>
  <option timestep="{d.options["step"]}" gravity="0 -9.81 0" integrator="discrete"
          solver="{d.options["solver"]}">
    <flag ipc="enable"/>
  </option>
  <size memory="4G"/>
  <worldbody>
    <geom type="plane" size="2 2 .1" zaxis="0 1 0"/>
    {ball}
    {hand}
    <flexcomp name="cloth" type="direct" dim="2" mass="{d.mass}" radius="{d.gap / 2}"
              point="{points}" element="{elements}">
      <elasticity young="{young}" poisson="0" thickness="{thickness}" damping="{d.damping}"
                  elastic2d="both"/>
      <contact selfcollide="auto"/>
    </flexcomp>
  </worldbody>
  <equality>{held}</equality>
</mujoco>"""

model = mujoco.MjModel.from_xml_string(XML)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
steps = round(1 / d.fps / d.options["step"])
for k in range(d.n_frames):
    with d:
        for j in range(steps):
            if len(d.held):
                data.mocap_pos[0, 1] = d.way((k * steps + j + 1) * d.options["step"])
            mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_flex(model, data)
    d.frame(data.flexvert_xpos)
names = [w.name.removeprefix("mjWARN_").lower() for w in mujoco.mjtWarning.__members__.values()]
said = [f"{w.number} x {name}" for name, w in zip(names, data.warning) if w.number]
d.write(mujoco.__version__, steps * d.n_frames, f"warnings: {', '.join(said)}" if said else "")
