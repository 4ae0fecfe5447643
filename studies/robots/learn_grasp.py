"""Reinforcement learning: soft actor-critic learns to lift a towel, with the defaults of
Stable-Baselines3 (``pip install stable-baselines3``).

It writes the learning curve (``learn-grasp.csv``, ``learn-grasp.png``) and the policy.
"""

import argparse
from pathlib import Path
from typing import Any

from stable_baselines3 import SAC
from stable_baselines3.common.monitor import Monitor

import weft
from studies.study import INK, Cell, Study, StudyTable
from weft.plugins.robots.learning.cloth_env import ClothEnv

SIZE, NAME = 9, "learn-grasp"  # vertices along a side of the towel
CHUNK, CHECK = 1_000, 5  # steps between rows of the curve, rows between trials on held-out seeds
GOAL = 0.9  # share of held-out seeds at which training ends: later, the policy forgets again
HELD_OUT, NEW = range(10_000, 10_020), range(20_000, 20_100)  # seeds during and after training


def make() -> ClothEnv:
    """Return an environment of the task."""
    made: ClothEnv = weft.robotics.env("grasp", set={"variables.size": SIZE})
    return made


def success(model: SAC, env: ClothEnv, seeds: range) -> float:
    """Return the share of seeds at which the policy, without noise, solves the task."""
    solved = 0
    for seed in seeds:
        seen, info = env.reset(seed=seed)
        over = False
        while not over:
            seen, _, won, cut, info = env.step(model.predict(seen, deterministic=True)[0])
            over = won or cut
        solved += info["solved"]
    return solved / len(seeds)


def learn(out: Path, steps: int = 40_000, held_out: range = HELD_OUT, new: range = NEW) -> Study:
    """Train until the policy solves ``GOAL`` of the held-out seeds, or for ``steps``.

    The curve and the policy are written into a folder after every chunk.

    Returns:
        The curve: steps, successes and return of the last 20 episodes of training, and successes
        at held-out seeds; and the successes at new seeds after training.
    """
    env, trials = Monitor(make(), info_keywords=("solved",)), make()
    model = SAC("MlpPolicy", env, seed=0, stats_window_size=20)
    rows: list[list[Cell]] = []
    share = 0.0
    while model.num_timesteps < steps and share < GOAL:
        model.learn(min(CHUNK, steps - model.num_timesteps), reset_num_timesteps=False)
        episodes: list[dict[str, float]] = list(model.ep_info_buffer or [])
        count = max(len(episodes), 1)
        trial = len(rows) % CHECK == CHECK - 1 or model.num_timesteps >= steps
        if trial:
            share = success(model, trials, held_out)
        rows.append(
            [
                float(model.num_timesteps),
                sum(e["solved"] for e in episodes) / count,
                sum(e["r"] for e in episodes) / count,
                share if trial else "",
            ]
        )
        print(rows[-1], flush=True)
        model.save(out / NAME)
        study(rows, "").write(out)
    share = success(model, trials, new)
    finding = f"{share:.0%} of {len(new)} new seeds are solved after {model.num_timesteps} steps"
    return study(rows, finding)


def study(rows: list[list[Cell]], finding: str) -> Study:
    """Return the learning curve as a table and a plot."""

    def draw(figure: Any) -> None:
        panel = figure.subplots()
        steps = [row[0] for row in rows]
        panel.plot(steps, [row[1] for row in rows], color=INK[0], label="training, 20 episodes")
        trials = [(row[0], row[3]) for row in rows if row[3] != ""]
        if trials:
            panel.plot(*zip(*trials), "o", color=INK[1], label="held-out seeds, no noise")
        panel.set(xlabel="steps", ylabel="share of episodes solved", ylim=(-0.03, 1.03))
        panel.legend()

    columns = ["steps", "solved in training", "return in training", "solved at held-out seeds"]
    title = f"Soft actor-critic learns to lift a towel of {SIZE} x {SIZE} vertices"
    return Study(NAME, title, StudyTable(columns, rows), [finding], draw)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("reproduced"), help="folder")
    parser.add_argument("--steps", type=int, default=40_000, help="most steps of training")
    options = parser.parse_args()
    found = learn(options.out, options.steps)
    print(found.findings[0])
