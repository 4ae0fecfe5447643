"""Gusts: frozen turbulence that the mean wind carries past, as a sum of waves.

    u(x, t) = sum_n a_n cos(k_n . (x - U t) + phi_n),   a_n . k_n = 0

The turbulence is isotropic and free of divergence, with von Karman's energy spectrum (1948; L the
longitudinal integral length, sigma the standard deviation of each component)

    E(k) = 55/(9 pi) sigma^2 L (1.339 L k)^4 / (1 + (1.339 L k)^2)^(17/6)

so that at a fixed place the component along the wind has the one-sided spectrum S(f) = 4 sigma^2
L/U / (1 + 70.8 (f L/U)^2)^(5/6), as MIL-F-8785C and wind engineering use it. The wind carries the
waves unchanged (Taylor's hypothesis, 1938); random waves are those of Kraichnan (1970). Each band
of wave numbers has three waves on a random orthogonal frame, k along e_1, e_2, e_3 and a along e_2,
e_3, e_1: so every component has the same variance, sigma^2 in all, for every seed.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, ScalarArray, Vec3Array, WarpArray, vec3

KARMAN = 1.339  # Gamma(1/3) / (sqrt(pi) Gamma(5/6)): makes L the integral length
# [1/L] range of the bands' wave numbers; the first and last band take the energy beyond the range.
LONGEST, SHORTEST = 0.03, 100.0
# These are constants of 64 bits, because wp.pi and quotients of literals in a kernel have 32 bits.
PI = Scalar(np.pi)
S3, S5, S7, S9 = Scalar(1 / 6), Scalar(1 / 120), Scalar(1 / 5040), Scalar(1 / 362880)
S11, S13 = Scalar(1 / 39916800), Scalar(1 / 6227020800)
S15, S17 = Scalar(1 / 1307674368000), Scalar(1 / 355687428096000)
WORK = 273.0  # matrix entries that take as long as the waves at one place
_STEPS = 200  # number of intervals in the quadrature of a band
WAVES = "the waves are fixed; only length and intensity may change"
_module = wp.get_module("weft.gusts")


@wp.func
def cos_of_turns(t: Scalar):
    """Return cos(2 pi t) = 1 - 2 sin(pi t)^2, to round-off.

    It uses Taylor's series of the sine on half a turn and has no branches, which takes a third of
    the time of the library's cosine.
    """
    y = PI * (t - wp.floor(t + Scalar(0.5)))
    z = y * y
    p = S17
    p = p * z - S15
    p = p * z + S13
    p = p * z - S11
    p = p * z + S9
    p = p * z - S7
    p = p * z + S5
    p = p * z - S3
    s = y + y * z * p
    return Scalar(1.0) - Scalar(2.0) * s * s


@wp.kernel(module=_module)
def add_waves(
    o: int, x: Vec3Array, wave: Vec3Array, amplitude: Vec3Array, phase: ScalarArray, out: Vec3Array
):
    """Add sum_n a_n cos(2 pi (k_n . x + phase_n)) to out, k and phase in turns."""
    i = o + wp.tid()
    sum = out[i]
    for n in range(wave.shape[0]):
        sum += cos_of_turns(wp.dot(wave[n], x[i]) + phase[n]) * amplitude[n]
    out[i] = sum


@checked(SceneError, "gusts", unchecked=("waves",))
@documented
@dataclass(frozen=True)
class Gusts:
    """Turbulence that the wind carries, with von Karman's spectrum."""

    intensity: float = setting(
        REQUIRED,
        "standard deviation of each component, divided by the speed of the wind",
        least=0,
        keyframes=True,
    )
    length: float = setting(
        1.0, "integral length of the largest eddies, along the wind", "m", above=0, keyframes=True
    )
    seed: int = setting(0, "seed of the waves", least=0, constant=WAVES)
    bands: int = setting(
        20, "number of wave numbers, with three waves each", least=4, most=1000, constant=WAVES
    )

    def waves(self, speed: float) -> "Waves":
        """Return the waves in a wind of this speed [m/s]."""
        sigma, rng = self.intensity * speed, np.random.default_rng(self.seed)
        edges = np.geomspace(LONGEST, SHORTEST, self.bands + 1) / self.length
        inside = edges.copy()
        inside[0], inside[-1] = 1e-3 * edges[0], 1e3 * edges[-1]
        energy = [band_energy(a, b, sigma, self.length) for a, b in pairwise(inside)]
        at = edges[:-1, None] * (edges[1:] / edges[:-1])[:, None] ** rng.random((self.bands, 3))
        frames, _ = np.linalg.qr(rng.normal(size=(self.bands, 3, 3)))
        size = np.sqrt(4 / 3 * np.array(energy))[:, None, None]  # sum |a|^2/2 = 2 E dk
        return Waves(
            (at[:, :, None] * frames).reshape(-1, 3),
            (size * np.roll(frames, -1, axis=1)).reshape(-1, 3),
            rng.uniform(0, 2 * np.pi, 3 * self.bands),
        )


@dataclass(frozen=True, eq=False)
class Waves:
    """Wave vectors, amplitudes and phases of a sum of waves."""

    wave: Floats  # (w,3) [1/m] k
    amplitude: Floats  # (w,3) [m/s] a
    phase: Floats  # (w,) [rad]

    def add(self, x: WarpArray, carried: Floats, out: WarpArray) -> None:
        """Add the velocities of the waves to out (m,) vec3 on the device.

        Args:
            x: (m,) vec3 places.
            carried: (3,) [m] displacement of the waves by the wind.
            out: (m,) vec3 [m/s].
        """
        # Reducing phases to one turn keeps the kernel's cosine accurate for long distances.
        phase = np.mod((self.phase - self.wave @ carried) / (2 * np.pi), 1.0)
        phases = kernel.array(phase, Scalar)
        kernel.launch(add_waves, x.shape[0], x, *self._device, phases, out, work=WORK)

    @cached_property
    def _device(self) -> tuple[WarpArray, WarpArray]:
        """Wave vectors in turns per meter, and amplitudes."""
        turns = self.wave / (2 * np.pi)
        return kernel.array(turns, vec3), kernel.array(self.amplitude, vec3)


def energy_spectrum(k: Floats, sigma: float, length: float) -> Floats:
    """Return E(k) [m^3/s^2] at wave numbers k [1/m]; its integral is 3/2 sigma^2."""
    s = (KARMAN * length * np.asarray(k)) ** 2
    return 55 / (9 * np.pi) * sigma**2 * length * s**2 / (1 + s) ** (17 / 6)


def band_energy(low: float, high: float, sigma: float, length: float) -> float:
    """Return the integral of E(k) [m^2/s^2] between two wave numbers [1/m].

    The quadrature is the midpoint rule in log k.
    """
    edges = np.geomspace(low, high, _STEPS + 1)
    middle = np.sqrt(edges[1:] * edges[:-1])
    E = energy_spectrum(middle, sigma, length)
    return float((E * middle).sum() * np.log(edges[1] / edges[0]))
