"""Files of arms for tests."""

# A base, two hinges, a slide with a finger and one that mimics it; one collider is a mesh.
URDF = """<robot name="arm">
 <link name="base"><collision><origin xyz="0 0 0.05"/>
  <geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
 <link name="upper">
  <visual><geometry><mesh filename="package://nowhere/seen.dae"/></geometry></visual>
  <collision><origin xyz="0 0 0.15" rpy="0.2 0 0"/>
  <geometry><cylinder radius="0.03" length="0.3"/></geometry></collision></link>
 <link name="hand"><collision><origin xyz="0.01 0 0.02" rpy="0 0.3 0.1"/>
  <geometry><mesh filename="package://pkg/meshes/hand.obj" scale="2 1 1"/></geometry></collision>
  </link>
 <link name="left"><inertial><mass value="0.05"/>
  <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.02 0.02 0.05"/></geometry></collision></link>
 <link name="right"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>
 <link name="tool"/>
 <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
  <origin xyz="0 0 0.1" rpy="0 0 0.3"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
 <joint name="wrist" type="continuous"><parent link="upper"/><child link="hand"/>
  <origin xyz="0 0 0.3"/><axis xyz="1 0 2"/></joint>
 <joint name="grip" type="prismatic"><parent link="hand"/><child link="left"/>
  <origin xyz="0.03 0 0.1"/><axis xyz="1 0 0"/>
  <limit lower="0" upper="0.04" effort="1" velocity="1"/></joint>
 <joint name="follow" type="prismatic"><parent link="hand"/><child link="right"/>
  <origin xyz="-0.03 0 0.1"/><axis xyz="-1 0 0"/>
  <limit lower="0" upper="0.04" effort="1" velocity="1"/>
  <mimic joint="grip" multiplier="0.5" offset="0.001"/></joint>
 <joint name="fixed" type="fixed"><parent link="hand"/><child link="tool"/></joint>
</robot>"""
HAND = """v 0 0 0
v 0.05 0 0
v 0 0.1 0
v 0 0 0.07
f 1 3 2
f 1 2 4
f 2 3 4
f 3 1 4
"""

# Joints beside the origin, with a zero of their own; two of them on one link.
MJCF = """<mujoco><compiler angle="radian"/><worldbody>
 <geom type="capsule" size="0.05 0.1" pos="0 0 -0.5"/>
 <geom type="box" size="9 9 9" contype="0" conaffinity="0"/>
 <body name="first" pos="0.1 0 0.2" quat="0.8 0.2 0.1 0.5">
  <joint name="turn" axis="0 1 1" pos="0.02 0.1 0" ref="0.3" range="-1 2"/>
  <joint name="push" type="slide" axis="1 0 0" range="-0.1 0.2"/>
  <geom type="ellipsoid" size="0.05 0.1 0.02" euler="0.1 0.2 0.3"/>
  <body name="second" pos="0 0 0.3"><joint name="bend" axis="1 0 0"/>
   <geom type="cylinder" size="0.02 0.1" pos="0 0 0.1"/></body></body>
</worldbody></mujoco>"""

# Two pads on a hand that is lifted; the right one mimics the left.
GRIPPER = """<mujoco><worldbody><body name="hand">
 <joint name="lift" type="slide" axis="0 0 1" range="-0.5 0.5"/>
 <geom type="box" size="0.03 0.08 0.01" pos="0 0 0.08"/>
 <body name="left" pos="0 -0.02 0"><joint name="left" type="slide" axis="0 1 0" range="0 0.03"/>
  <geom type="box" size="0.015 0.005 0.015" mass="0.05"/></body>
 <body name="right" pos="0 0.02 0"><joint name="right" type="slide" axis="0 -1 0" range="0 0.03"/>
  <geom type="box" size="0.015 0.005 0.015" mass="0.05"/></body></body></worldbody>
 <equality><joint joint1="right" joint2="left"/></equality></mujoco>"""


def write_urdf(folder, text=URDF):
    """Write the URDF in a package, with its mesh; return its path."""
    for name in ("urdf", "meshes"):
        (folder / "pkg" / name).mkdir(parents=True, exist_ok=True)
    (folder / "pkg/meshes/hand.obj").write_text(HAND)
    path = folder / "pkg/urdf/arm.urdf"
    path.write_text(text)
    return path


def write(folder, text, name="arm.xml"):
    """Write a file; return its path."""
    (folder / name).write_text(text)
    return folder / name
