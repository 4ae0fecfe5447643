"""Whose derivative of the bend angle is right, Macri's two or the notes' one (Pritchard 2012,
section 5.1)?

With lengths held constant, Macri differentiates cos to -dcos/sin, sin to dsin/cos, and takes the
one whose denominator is larger; the notes take cos dsin - sin dcos (eq. 54). All four vertices of a
hinge are differentiated at every angle and compared with central differences of the angle itself
and of the angle with frozen lengths.
"""

from typing import Any

import numpy as np

from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Floats, Positions
from weft.plugins.lab.validate.derivatives import angle

ANGLES = np.radians(np.arange(-177.5, 180.0, 5.0))
SHOWN = (2.5, 32.5, 42.5, 47.5, 62.5, 87.5, 122.5, 177.5)  # [degrees] rows of the table
STEP = 1e-5  # of central differences, relative to the edge

SHORT = ("eq. 54", "-dcos/sin", "dsin/cos", "switched")  # columns of the table
FORMULAS = ("notes, eq. 54", "Macri, -dcos/sin", "Macri, dsin/cos", "Macri, switched")


def study(say: Say, angles: Floats = ANGLES) -> Study:
    """Errors of each formula over all angles."""
    errors = np.array([errors_at(theta) for theta in angles])
    true = errors[:, :, 0]
    frozen = errors[:, :, 1]
    say(f"{len(angles)} angles, 4 formulas, 12 coordinates")
    degrees = np.degrees(angles)
    rows: list[list[float | str]] = [
        [round(float(degrees[i]), 3), *frozen[i].tolist(), *true[i].tolist()]
        for i in range(len(angles))
        if any(abs(degrees[i] - s) < 1e-9 for s in SHOWN)
    ]
    columns = ["angle [degrees]"]
    columns += [f"{f} (frozen)" for f in SHORT] + [f"{f} (true)" for f in SHORT]

    def draw(figure: Any) -> None:
        _draw(figure, degrees, frozen, true)

    found = findings(frozen, true, np.asarray(angles))
    return Study(
        "pritchard-macri", "Derivatives of the bend angle", StudyTable(columns, rows), found, draw
    )


def hinge(theta: float) -> Positions:
    """(4,3) two unlike triangles about the edge x0 x1, folded by theta."""
    c, s = np.cos(theta), np.sin(theta)
    flat = np.array([[0, 0, 0], [0, 1.0, 0], [-0.9, 0.35, 0], [0.7, 0.6, 0]])
    folded = flat.copy()
    folded[3] = [0.7 * c, 0.6, 0.7 * s]
    return folded


def errors_at(theta: float) -> Floats:
    """(4,2) relative error of each formula against differences of the frozen and the true angle.

    Relative to the size of the true derivative.
    """
    x = hinge(theta)
    sine, cosine = frozen_slopes(x)
    sin, cos = np.sin(signed(x)), np.cos(signed(x))
    notes = cos * sine - sin * cosine
    first, second = -cosine / sin, sine / cos
    switched = first if abs(sin) > abs(cos) else second
    true = differences(x, None)
    frozen = differences(x, x)
    size = np.abs(true).max()
    return np.array(
        [
            [np.abs(formula - reference).max() / size for reference in (true, frozen)]
            for formula in (notes, first, second, switched)
        ]
    )


def signed(x: Positions) -> float:
    """The angle of a hinge (4,3)."""
    return float(angle(x[None])[0])


def differences(x: Positions, frozen: Positions | None) -> Floats:
    """(4,3) central differences of the angle; with the lengths of ``frozen``, where given."""
    at = None if frozen is None else frozen[None]
    out = np.zeros((4, 3))
    for a in range(4):
        for i in range(3):
            d = np.zeros((4, 3))
            d[a, i] = STEP
            change = angle((x + d)[None], at)[0] - angle((x - d)[None], at)[0]
            out[a, i] = (change + np.pi) % (2 * np.pi) - np.pi
    return out / (2 * STEP)


def frozen_slopes(x: Positions) -> tuple[Floats, Floats]:
    """dsin/dx and dcos/dx (4,3) with frozen lengths: eqs. 46-49, written with S_s(q)."""
    e, n, m = x[1] - x[0], np.cross(x[1] - x[0], x[2] - x[0]), np.cross(x[3] - x[0], x[1] - x[0])
    lengths = [np.linalg.norm(a) for a in (e, n, m)]
    e_hat, n_hat, m_hat = (a / length for a, length in zip((e, n, m), lengths))
    q_n = [x[2] - x[1], x[0] - x[2], x[1] - x[0], np.zeros(3)]  # eq. 31
    q_m = [x[1] - x[3], x[3] - x[0], np.zeros(3), x[0] - x[1]]  # eq. 32
    q_e = [-1.0, 1.0, 0.0, 0.0]  # eq. 33
    sine, cosine = np.zeros((4, 3)), np.zeros((4, 3))
    for a in range(4):
        for s, unit in enumerate(np.eye(3)):
            dn = np.cross(q_n[a], unit) / lengths[1]  # S_s(q)/|n|: eqs. 37-38 (BODY)
            dm = np.cross(q_m[a], unit) / lengths[2]
            de = q_e[a] * unit / lengths[0]  # eq. 39
            cosine[a, s] = dn @ m_hat + n_hat @ dm
            sine[a, s] = (np.cross(dm, n_hat) + np.cross(m_hat, dn)) @ e_hat
            sine[a, s] += np.cross(m_hat, n_hat) @ de
    return sine, cosine


def findings(frozen: Floats, true: Floats, angles: Floats) -> list[str]:
    """The largest errors, and the closed form of what is wrong."""
    tip = [hinge(theta) for theta in angles]
    # A tip's frozen slopes are dsin = cos dtheta + lambda sin, dcos = -sin dtheta + lambda cos.
    residual = 0.0
    for x in tip:
        sine, cosine = frozen_slopes(x)
        sin, cos = np.sin(signed(x)), np.cos(signed(x))
        rate, growth = cos * sine - sin * cosine, sin * sine + cos * cosine
        residual = max(residual, np.abs((rate - differences(x, None))[2:]).max())
        macri = -cosine / sin - (rate - growth * cos / sin)
        residual = max(residual, np.abs(macri[2:]).max())
    flat = frozen[np.argmin(np.abs(angles)), 3]
    return [
        f"eq. 54 is the derivative of the angle with frozen lengths: error {frozen[:, 0].max():.1e}"
        " over all angles.",
        f"Macri's -dcos/sin is off by {frozen[:, 1].min():.2g} (at best) to "
        f"{frozen[:, 1].max():.2g} times the derivative, dsin/cos by up to "
        f"{frozen[:, 2].max():.2g}; switching between them "
        f"leaves up to {frozen[:, 3].max():.2g}, with a jump where |sin| = |cos|.",
        "For the tips the errors are -L cot(theta) and +L tan(theta), L = sin dsin + cos dcos the "
        f"growth of the frozen vectors: checked to {residual:.0e}. They agree nowhere, because "
        "cot + tan is never 0; with exact derivatives L = 0 and all three are right.",
        f"Against the true angle eq. 54 is exact for the tips and off by up to "
        f"{true[:, 0].max():.2g} for the edge: sin(theta) cos(theta)/|e| along it.",
        "Near flat Macri takes dsin/cos, whose error vanishes with tan(theta) "
        f"({flat:.2g} at {np.degrees(np.abs(angles).min()):.3g} degrees): small bends hide it.",
    ]


def _draw(figure: Any, degrees: Floats, frozen: Floats, true: Floats) -> None:
    panels = figure.subplots(1, 2, sharey=True)
    for axes, errors, title in zip(
        panels, (frozen, true), ("against the angle with frozen lengths", "against the true angle")
    ):
        styles = ("-", "--", "--", "-")
        for i, (label, ink, style) in enumerate(zip(FORMULAS, (INK[0], *INK[3:5], INK[1]), styles)):
            axes.semilogy(
                degrees, np.maximum(errors[:, i], 1e-12), style, color=ink, lw=1.3, label=label
            )
        axes.set(xlabel="angle [degrees]", title=title, xticks=range(-180, 181, 45))
        axes.title.set_fontsize(9)
        axes.grid(alpha=0.25)
    panels[0].set_ylabel("largest error over the derivative")
    panels[0].legend(fontsize=7, loc="center left")
