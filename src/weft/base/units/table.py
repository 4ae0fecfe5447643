"""The units that weft knows, and the names of dimensions."""

import math

Dimension = tuple[int, int, int, int]  # powers of kg, m, s and rad


def _powers(kg: int = 0, m: int = 0, s: int = 0, rad: int = 0) -> Dimension:
    return (kg, m, s, rad)


GRAVITY = 9.80665  # [m/s^2] standard gravity: 1 kgf = 9.80665 N (CGPM 1901)
INCH = 0.0254  # [m] exact since 1959
POUND = 0.45359237  # [kg] exact since 1959

PLAIN = _powers()
_MASS, _LENGTH, _TIME, ANGLE = _powers(kg=1), _powers(m=1), _powers(s=1), _powers(rad=1)
_FORCE, _ENERGY, _PRESSURE = _powers(1, 1, -2), _powers(1, 2, -2), _powers(1, -1, -2)
_AREAL, _LINEAR = _powers(1, -2), _powers(1, -1)

UNITS: dict[str, tuple[float, Dimension]] = {
    "kg": (1.0, _MASS),
    "g": (1e-3, _MASS),
    "mg": (1e-6, _MASS),
    "oz": (POUND / 16, _MASS),
    "lb": (POUND, _MASS),
    "km": (1e3, _LENGTH),
    "m": (1.0, _LENGTH),
    "dm": (1e-1, _LENGTH),
    "cm": (1e-2, _LENGTH),
    "mm": (1e-3, _LENGTH),
    "um": (1e-6, _LENGTH),
    "µm": (1e-6, _LENGTH),
    "in": (INCH, _LENGTH),
    "ft": (12 * INCH, _LENGTH),
    "yd": (36 * INCH, _LENGTH),
    "s": (1.0, _TIME),
    "ms": (1e-3, _TIME),
    "us": (1e-6, _TIME),
    "µs": (1e-6, _TIME),
    "min": (60.0, _TIME),
    "h": (3600.0, _TIME),
    "Hz": (1.0, _powers(s=-1)),
    "N": (1.0, _FORCE),
    "kN": (1e3, _FORCE),
    "cN": (1e-2, _FORCE),
    "mN": (1e-3, _FORCE),
    "uN": (1e-6, _FORCE),
    "µN": (1e-6, _FORCE),
    "gf": (1e-3 * GRAVITY, _FORCE),
    "kgf": (GRAVITY, _FORCE),
    "lbf": (POUND * GRAVITY, _FORCE),
    "dyn": (1e-5, _FORCE),
    "J": (1.0, _ENERGY),
    "mJ": (1e-3, _ENERGY),
    "Pa": (1.0, _PRESSURE),
    "kPa": (1e3, _PRESSURE),
    "MPa": (1e6, _PRESSURE),
    "GPa": (1e9, _PRESSURE),
    "gsm": (1e-3, _AREAL),  # grams per square meter
    "momme": (POUND / (45 * INCH * 3600 * INCH), _AREAL),  # lb per piece of 45 in by 100 yd
    "tex": (1e-6, _LINEAR),  # g per km
    "dtex": (1e-7, _LINEAR),
    "den": (1e-6 / 9, _LINEAR),  # g per 9 km
    "rad": (1.0, ANGLE),
    "deg": (math.pi / 180, ANGLE),
    "°": (math.pi / 180, ANGLE),
    "%": (1e-2, PLAIN),
}

# Larger numbers, in SI, do not occur with cloth, and their squares and sums could overflow.
MOST: dict[Dimension, float] = {
    _LENGTH: 1e9,
    _TIME: 1e9,
    ANGLE: 1e6,
    _powers(s=-1, rad=1): 1e6,
    _powers(m=1, s=-1): 1e6,
    _powers(m=1, s=-2): 1e9,
    _MASS: 1e12,
    _AREAL: 1e9,
    _powers(1, -3): 1e9,
    PLAIN: 1e15,
}
MOST_ELSE = 1e18  # for other dimensions

NAMES: dict[Dimension, str] = {
    PLAIN: "a plain number",
    _MASS: "a mass",
    _LENGTH: "a length",
    _TIME: "a time",
    ANGLE: "an angle",
    _powers(s=-1): "a frequency",
    _powers(m=2): "an area",
    _powers(m=3): "a volume",
    _powers(m=1, s=-1): "a speed",
    _powers(m=1, s=-2): "an acceleration",
    _FORCE: "a force",
    _powers(1, 0, -2): "a force per width",
    _powers(1, 0, -2, -1): "a force per width and angle",
    _PRESSURE: "a pressure",
    _AREAL: "a mass per area",
    _LINEAR: "a mass per length",
    _powers(1, -3): "a mass per volume",
}


def add_powers(a: Dimension, b: Dimension, times: int = 1) -> Dimension:
    """Return the dimension of a product: the powers of ``a`` plus ``times`` those of ``b``."""
    kg, m, s, rad = (p + times * q for p, q in zip(a, b))
    return (kg, m, s, rad)


def name_of(dimension: Dimension, unit: str = "") -> str:
    """Return the name of a dimension, such as ``a mass per area``.

    Newton times meter is an energy if ``unit`` is J, and otherwise a moment per width and curvature
    (a bending rigidity).
    """
    if dimension == _ENERGY:
        return "an energy" if unit == "J" else "a moment per width and curvature"
    if dimension in NAMES:
        return NAMES[dimension]
    powers = zip(("kg", "m", "s", "rad"), dimension)
    return "*".join(n if p == 1 else f"{n}^{p}" for n, p in powers if p) or "a plain number"
