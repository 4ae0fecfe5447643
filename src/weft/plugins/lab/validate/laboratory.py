"""Virtual tests of a textile laboratory: cantilever, draped ring, and fabrics as published.

The cantilever must give back the rigidity that went in, by the exact heavy elastica. A ring so
stiff that it hardly sags is a clamped annular plate, whose edge sinks by a closed form. Drape
coefficients of fabrics are compared with those that were measured on the same cloth
(``laboratory.reference_values``); these rows are indicative (``docs/explanations/laboratory.md``
says which fabrics fit, and what does not). Pure bending and the shear frame must give B, 2HB and
2HG back.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.bodies.motion.pins import Pin
from weft.fabric.fabric import Fabric, fabric
from weft.plugins.lab.laboratory.cantilever import Direction, cantilever
from weft.plugins.lab.laboratory.cusick import DISK, SPECIMEN, Cusick, cusick, specimen
from weft.plugins.lab.laboratory.elastica import elastica_of_chord
from weft.plugins.lab.laboratory.loop import AT, SLOPE, bending_loop
from weft.plugins.lab.laboratory.plate import plate_hinges
from weft.plugins.lab.laboratory.reference_values import DRAPE_COEFFICIENTS
from weft.plugins.lab.laboratory.shadow import area
from weft.plugins.lab.laboratory.shear import shear
from weft.plugins.lab.laboratory.specimen import GRAVITY, specimen_model
from weft.plugins.lab.validate.check import RowBasis, Rows, attempt, compare, measure
from weft.plugins.lab.validate.strip import settle

STRIPS: Sequence[tuple[str, Direction]] = (
    ("cotton", "warp"),
    ("cotton", "weft"),
    ("stretch-twill", "warp"),  # rigidities 3.8 : 1
    ("stretch-twill", "weft"),
)
RUBBING, SHEARED = "broadcloth", 1.5  # a fabric with 2HB; [N/m] its 2HG here
PLATE_SIZE = 6e-3  # [m] edges of the ring that hardly sags
SAG = 1e-4  # [m] approximate sag of its border
POISSON = -1 / 3  # of a plate of hinges on equilateral triangles (docs/explanations/bending.md)
DRAPED = [name for name, known in DRAPE_COEFFICIENTS.items() if known.measured]
LABORATORIES = 0.05  # difference between laboratories in the drape coefficient of one fabric
FOLDS = 1.0  # difference between drapings in the number of folds
MESHED = "wool"  # the fabric that is draped on two meshes
MESHES = ((6e-3, 1), (5e-3, 0))  # edge lengths [m] and seeds of two meshes that must agree
AGREE = 0.02  # tolerance of the drape coefficients of two meshes


def cantilevers() -> Rows:
    """Compare rigidities of two fabrics from strips, to 2 %, and the factor between overhang
    and c.
    """
    for name, direction in STRIPS:
        case = f"cantilever/{name} {direction}"
        yield from attempt(case, _strip, case, name, direction)


def _strip(case: str, name: str, direction: Direction) -> Rows:
    found = cantilever(fabric(name), direction)
    yield compare(case, found.given, found.exact, 2e-2)
    if (name, direction) == STRIPS[0]:
        c = (found.given / found.weight) ** (1 / 3)
        yield compare(
            "cantilever/overhang over c", elastica_of_chord().length, found.overhang / c, 7e-3
        )


def loops() -> Rows:
    """Compare B, 2HB and 2HG that KES-FB2 and the shear frame read with those that went in."""
    cloth = replace(fabric(RUBBING), shear_hysteresis=SHEARED)
    yield from attempt("pure bending", _pure_bending, cloth)
    yield from measure("shear frame/2HG", SHEARED, 1e-3, lambda: shear(cloth).hysteresis)


def _pure_bending(cloth: Fabric) -> Rows:
    loop = bending_loop(cloth, "warp")
    yield compare("pure bending/B", cloth.bending_warp, loop.slope(*SLOPE), 2e-2)
    yield compare("pure bending/2HB", cloth.bending_hysteresis_warp or 0.0, loop.width(AT), 1e-2)


def rings() -> Rows:
    """Compare the flat specimen's area, and a ring with a clamped plate."""
    yield from measure("cusick/flat specimen", np.pi * SPECIMEN**2, 1e-3, _flat_area)
    yield from measure("cusick/ring as a plate", SAG, 2e-2, ring_sag)


def _flat_area() -> float:
    mesh, _, _ = specimen(PLATE_SIZE, 0)
    flat = np.stack([mesh.vertices[:, 0], -mesh.vertices[:, 2]], axis=1)
    return area(flat, mesh.faces, DISK)


def ring_sag(size: float = PLATE_SIZE, seed: int = 0) -> float:
    """Return how far [m] the border of a ring sinks whose closed form says ``SAG``."""
    per_rigidity = plate_sag(1.0)
    stiff = Fabric(0.1, 4000.0, 4000.0, 40.0, *2 * (0.1 * GRAVITY * per_rigidity / SAG,))
    mesh, held, _ = specimen(size, seed)
    bending = plate_hinges(mesh, (stiff.bending_warp, stiff.bending_weft))
    model = specimen_model(mesh, stiff, [Pin(held)], [bending])
    x = settle(model, mesh.vertices, 1e-9, 1e-6).x
    return float(-x[mesh.groups["rim"], 1].mean())


def plate_sag(rigidity: float, poisson: float = POISSON) -> float:
    """Return how far [m] the free border of the ring sinks per load [N/m^2], clamped at the disk.

    w = r^4/(64 D) + c1 + c2 r^2 + c3 ln r + c4 r^2 ln r (Timoshenko & Woinowsky-Krieger 1959,
    section 17), with w = w' = 0 at the disk and no moment and shear at the border.
    """
    a, b = DISK, SPECIMEN
    # Columns: c1 to c4; the load's own term on the right, times D.
    rows = [
        [1.0, a**2, np.log(a), a**2 * np.log(a)],
        [0.0, 2 * a, 1 / a, a * (2 * np.log(a) + 1)],
        [
            0.0,
            2 * (1 + poisson),
            (poisson - 1) / b**2,
            2 * (1 + poisson) * np.log(b) + 3 + poisson,
        ],
        [0.0, 0.0, 0.0, 4 / b],
    ]
    load = [-(a**4) / 64, -(a**3) / 16, -(3 + poisson) * b**2 / 16, -b / 2]
    c = np.linalg.solve(rows, load)
    shape = b**4 / 64 + c @ [1.0, b**2, np.log(b), b**2 * np.log(b)]
    return float(shape / rigidity)


def drapes() -> Rows:
    """Compare fabrics with measurements of the same cloth, and one fabric on two meshes."""
    for name in DRAPED:
        yield from attempt(f"cusick/{name}", _measured, name)
    yield from attempt("cusick/two meshes", _meshes)


def _measured(name: str) -> Rows:
    known, found = DRAPE_COEFFICIENTS[name], _drape(name, 0)
    rows = (
        ("", known.low, found.coefficient, LABORATORIES),
        (" folds", float(known.nodes or 0), found.nodes, FOLDS),
    )
    for word, expected, got, allowed in rows:
        case = f"cusick/{name}{word}"
        yield compare(case, expected, got, allowed / expected, RowBasis.INDICATIVE)


def _meshes() -> Rows:
    coarse, fine = (_drape(MESHED, i).coefficient for i in range(len(MESHES)))
    yield compare("cusick/two meshes", fine, coarse, AGREE / fine, RowBasis.SELF)


def _drape(name: str, i: int) -> Cusick:
    """Return the drape test of a fabric on the i-th mesh."""
    size, seed = MESHES[i]
    return cusick(fabric(name), size, mesh_seed=seed)


def checks() -> Rows:
    """Yield the rows that are computed fast: cantilevers, loops and rings."""
    yield from cantilevers()
    yield from loops()
    yield from rings()
