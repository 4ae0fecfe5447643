"""Two grippers fold a cloth on a table along its middle: a Gymnasium environment by hand."""

import numpy as np
from PIL import Image

import weft

SIZE, UP = 9, np.array([0.0, 1.0, 0.0])
env = weft.robotics.env("fold", set={"variables.size": SIZE}, steps=120, render_mode="rgb_array")
seen, _ = env.reset(seed=0)
cloth = seen[: 3 * SIZE**2].reshape(SIZE, SIZE, 3)
near, far = cloth[[0, -1], 0], cloth[[0, -1], -1]  # the corners to be taken, and where they go
middle, radius = (near + far) / 2, np.linalg.norm(far - near, axis=1).mean() / 2


def go(seen, goal, close):
    """Both grippers to (2,3) places; whether the episode is over."""
    for _ in range(40):
        way = goal - seen[-8:-2].reshape(2, 3)
        if np.abs(way).max() < 5e-3:
            break
        action = np.column_stack([np.clip(way / 0.02, -1, 1), [2.0 * close - 1] * 2])
        seen, _, solved, over, info = env.step(action.reshape(-1))
        if solved or over:
            return seen, info
    return seen, None


seen, _ = go(seen, near + 0.05 * UP, close=False)
seen, _ = go(seen, near + 0.005 * UP, close=False)
pictures = [env.render()]
for angle in np.linspace(0, np.pi, 9)[1:]:  # half a circle, over to the other side
    along = (near - middle) * np.cos(angle)
    goal = middle + along + (0.9 * radius * np.sin(angle) + 0.01) * UP
    seen, info = go(seen, goal, close=True)
    pictures.append(env.render())
    if info:
        break
shown = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
Image.fromarray(np.hstack(shown)).save("fold.png")
print(f"folded: {info['measure']:.3f} (1: both halves at one place), solved: {info['solved']}")
