"""A camera sees a towel that a gripper lifts: color, depth, mask and normals side by side."""

import numpy as np
from PIL import Image

import weft

fields = {
    "camera.channels": ["rgb", "depth", "mask", "normal"],
    "camera.eye": [0.5, 0.6, 0.7],
    "camera.field_of_view": "40 deg",
    "camera.width": 240,
    "camera.height": 240,
}
env = weft.robotics.env("grasp", set=fields)
env.reset(seed=0)
for _ in range(5):
    env.step([0, -1, 0, -1])  # down, open
for _ in range(8):
    seen, *_ = env.step([0, 1, 0, 1])  # up, closed

depth, cloth = seen["depth"], seen["mask"] == 1
near, far = depth[cloth].min(), depth.max()
gray = np.where(depth > 0, (far - depth) / (far - near), 0).clip(0, 1)
pictures = [
    seen["rgb"],
    np.repeat(255 * gray[..., None], 3, axis=2),
    np.repeat(255 * cloth[..., None], 3, axis=2),
    127.5 * (1 + seen["normal"]),
]
Image.fromarray(np.hstack(pictures).astype(np.uint8)).save("camera.png")
print(f"cloth covers {cloth.mean():.3f} of the picture and is {near:.3f} m from the camera")
