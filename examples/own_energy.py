"""An energy of one's own in NumPy, a net of springs on the cloth: slow, as the run warns."""

import numpy as np

import weft


class Net:
    """k/2 (|d| - l)^2 for every edge d of a mesh, k in N/m."""

    name = "net"

    def __init__(self, mesh, k):
        self.stencil, self.k = mesh.edges, k
        self.rest = self.edges(mesh.vertices)[1]

    def edges(self, x):
        d = np.diff(x[self.stencil], axis=1)[:, 0]
        return d, np.linalg.norm(d, axis=1)

    def value(self, x):
        return self.k / 2 * (self.edges(x)[1] - self.rest) ** 2

    def gradient(self, x):
        d, length = self.edges(x)
        f = self.k * (1 - self.rest / length)[:, None] * d
        return np.stack([-f, f], axis=1)

    def hessian(self, x, psd):
        most = np.inf if psd is weft.Psd.EXACT else 1.0  # a pressed spring gives way sideways
        d, length = (a.reshape(len(a), -1, 1) for a in self.edges(x))
        across = np.eye(3) - d * np.swapaxes(d, 1, 2) / length**2
        K = self.k * (np.eye(3) - np.minimum(self.rest[:, None, None] / length, most) * across)
        return np.stack([np.stack([K, -K], 1), np.stack([-K, K], 1)], 1)


cloth = weft.sheet(9, 9, fabric="jersey")
scene = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], energies=[Net(cloth.mesh, k=50.0)])
start = weft.prepare(scene)
_, _, report = start.stepper.step(start.model, start.state, {}, dt=0.2)
print(f"the net has {report.terms['net'] / report.terms['membrane']:.3f} of the cloth's energy")
