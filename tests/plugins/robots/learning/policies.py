"""Policies by hand that solve the tasks: sequences of places for the grippers."""

import numpy as np

UP = np.array([0.0, 1.0, 0.0])


class Hands:
    """The grippers of an environment, which go to places."""

    def __init__(self, env, seed):
        self.env = env
        env.reset(seed=seed)
        self.over, self.info = False, {}
        self.rewards, self.potentials = [], list(env.rig.potentials)

    @property
    def cloth(self):
        return self.env.rig.cloth(0)

    def go(self, to, closed, most=60):
        """Move to places (g,3) [m]; return whether the episode goes on."""
        for _ in range(most):
            way = to - self.env.rig.grippers[0].x
            if self.over or (np.abs(way).max() < 1e-3 and most > 1):
                break
            self.act(way / max(np.abs(way).max(), 0.02), closed)  # side by side
        return not self.over

    def act(self, way, closed):
        action = np.column_stack([np.clip(way, -1, 1), np.full(len(way), 1.0 if closed else -1.0)])
        _, reward, solved, cut, self.info = self.env.step(action.reshape(-1))
        self.rewards.append(reward)
        self.potentials += self.env.rig.potentials
        self.over = solved or cut

    def carry(self, to, x=None, y=None, z=None):
        """Carry to places (g,3) [m], of which some coordinates are new."""
        for k, value in enumerate((x, y, z)):
            if value is not None:
                to[:, k] = value
        self.go(to, True)

    def take(self, places):
        """Grip the cloth at places (g,3) [m]."""
        self.go(places + 0.05 * UP, False)
        self.go(places + 0.004 * UP, False)
        self.act(np.zeros_like(places), True)

    def wait(self, steps=30):
        """Open, and wait until the episode is over."""
        for _ in range(steps):
            if not self.over:
                self.act(np.zeros_like(self.env.rig.grippers[0].x), False)


def grasp(hands):
    middle = hands.cloth[len(hands.cloth) // 2][None]
    hands.take(middle)
    hands.go(middle + 0.45 * UP, True)


def corner(x, along, across):
    """The vertex farthest in a direction."""
    return x[np.argmax(along * x[:, 0] + across * x[:, 2])]


def fold(hands):
    """Over to the other side, along half circles about the middle."""
    x = hands.cloth.copy()
    middle = 0.5 * (x[:, 0].min() + x[:, 0].max())
    near = np.array([corner(x, -1, -1), corner(x, -1, 1)])
    near[:, 2] = np.clip(near[:, 2], -0.48, 0.48)  # of what grippers reach
    carry_over(hands, near, middle)


def carry_over(hands, near, middle):
    hands.take(near)
    radius = near[:, 0] - middle
    for angle in np.linspace(0, np.pi, 9)[1:]:
        to = near.copy()
        to[:, 0] = middle + 0.97 * radius * np.cos(angle)
        to[:, 1] += 0.97 * np.abs(radius) * np.sin(angle) + 0.01
        to[:, 2] = near[:, 2].mean() + 0.95 * (near[:, 2] - near[:, 2].mean())  # not taut
        hands.go(to, True)
    for _ in range(10):  # until what is carried lies down
        hands.go(to, True, most=1)
    hands.wait()


def flatten(hands):
    """Take the edge that lies on top, lift it and lay it back to where it belongs."""
    hands.wait(6)  # the bend falls
    x, rest = hands.cloth.copy(), hands.env.rig.tasks[0].rest
    last = np.flatnonzero(rest[:, 0] > rest[:, 0].max() - 1e-6)
    first = np.flatnonzero(rest[:, 0] < rest[:, 0].min() + 1e-6)
    away = x[last].mean(0) - x[first].mean(0)
    away *= [1, 0, 1] / np.linalg.norm(away)
    edge = x[last[len(last) // 2]][None]
    above = edge + 0.0285 * UP  # from where the layer below is out of reach
    hands.go(above + 0.05 * UP, False)
    hands.go(above, False)
    hands.act(np.zeros_like(edge), True)
    flat = x[first].mean(0) + 0.4 * away
    hands.go(above + 0.12 * UP + 0.12 * away, True)
    hands.go((flat + 0.06 * UP)[None], True)
    hands.go((flat + 0.03 * UP)[None], True)
    hands.wait()


def drape(hands):
    """Take the edge beside the bar, and carry it over until half of the cloth hangs behind it."""
    x = hands.cloth.copy()
    bar = hands.env.rig.tasks[0].holder_vertices
    top, at = bar[:, 1].max(), bar[:, 0].mean()
    near = np.array([corner(x, 1, -1), corner(x, 1, 1)])
    hands.take(near)
    hands.carry(near, y=top + 0.12)
    hands.carry(near, at + 0.08)
    hands.carry(near, at + 0.13, top - 0.05)
    hands.carry(near, at + 0.06, top - 0.12)
    hands.wait()


def hang(hands):
    """Take the cloth along its middle, across the hook, and lower it onto the hook."""
    x, rest = hands.cloth.copy(), hands.env.rig.tasks[0].rest
    hook = hands.env.rig.tasks[0].holder_vertices
    center = 0.5 * (rest.min(0) + rest.max(0))
    ends = [np.argmin(np.linalg.norm(rest - center - [0, 0, s], axis=1)) for s in (-0.1, 0.1)]
    near = x[ends]
    hands.take(near)
    middle = hook.mean(0)
    hands.carry(near, y=hook[:, 1].max() + 0.2)
    hands.carry(near, middle[0], z=[-0.09, 0.09])
    hands.carry(near, y=middle[1] - 0.02)
    hands.wait()


def dress(hands):
    """Pull the opening over the hand, along the arm."""
    hands.act(np.zeros((2, 3)), True)
    to = hands.env.rig.grippers[0].x + [0.4, 0, 0]
    hands.go(to, True)


POLICIES = {
    "grasp": grasp,
    "fold": fold,
    "flatten": flatten,
    "drape": drape,
    "hang": hang,
    "dress": dress,
    "fold_tee": fold,
    "fold_trousers": fold,
}
