"""Patches fitted to flat pieces: curves, nets, corners, lifting, seams, and what goes wrong."""

import numpy as np
import pytest

import weft
from tests.checks import assert_derivative
from tests.refusals import refused
from weft.discretization.mesh import TriangleMesh, grid
from weft.discretization.spline_fit.fit_mesh import fit_pieces, flat_pieces
from weft.discretization.spline_fit.fit_patch import (
    FitSettings,
    _build_initial_net,
    corners_of,
    fit_curve,
    fit_patch,
    initial_net,
)
from weft.discretization.spline_fit.lift import lift
from weft.discretization.spline_fit.mips import Mips, SidePoints, mips_derivatives, soften
from weft.discretization.spline_fit.outline import along_warp, check_corners, outline_of, sides_of
from weft.discretization.spline_fit.patch_error import PatchError
from weft.show.picture.panel_sketch import save_piece

SKIRT = np.concatenate(
    [
        [[-0.5 + t, -0.1 * np.sin(np.pi * t)] for t in np.linspace(0, 1, 20)],
        [[0.3, 0.8]],
        [[0.3 - 0.6 * t, 0.8 - 0.05 * np.sin(np.pi * t)] for t in np.linspace(0, 1, 16)[1:]],
    ]
)


def piece(outline, size=0.05):
    return weft.triangulate(outline, size=size).mesh


def fit_piece(mesh, n1, n2, corners=None, settings=None):
    """A patch of n1 x n2 control points fitted to a flat piece."""
    outline = outline_of(mesh)
    chosen = corners_of(outline, corners, mesh.source)
    return fit_patch(outline, sides_of(outline, chosen), n1, n2, settings, mesh.source)


def test_straight_sides_are_exact_whatever_the_smoothing():
    side = SidePoints.of(np.array([[0.0, 0.0], [0.2, 0.1], [2.0, 1.0]]), 9)
    for smoothing in (0.0, 1e-3, 10.0):
        C = fit_curve(side, 9, smoothing)
        along = C @ [2.0, 1.0] / 5
        assert np.abs(C @ [1.0, -2.0]).max() < 1e-12
        assert (np.diff(along) > 0).all() and along[-1] == pytest.approx(1.0)
    assert side.u[-1] == 7 and len(side.u) >= 4 * 7


def test_smoothing_takes_zigzags_out():
    zigzag = np.column_stack([np.linspace(0, 1, 25), 0.02 * (-1.0) ** np.arange(25)])
    zigzag[[0, -1], 1] = 0.0
    rough, smooth = (fit_curve(SidePoints.of(zigzag, 20), 20, s)[:, 1] for s in (0.0, 1.0))
    assert np.abs(np.diff(smooth, 2)).max() < 0.1 * np.abs(np.diff(rough, 2)).max()


def test_net_of_a_parallelogram_is_bilinear():
    """Eqs. 23-26: where both guides agree, the point is theirs."""
    a, b = np.array([1.0, 0.2]), np.array([0.3, 0.8])
    s, t = np.linspace(0, 1, 7)[:, None], np.linspace(0, 1, 6)[:, None]
    net = initial_net(s * a, a + t * b, b + s * a, t * b)
    np.testing.assert_allclose(net, s[:, None] * a + t[None] * b, atol=1e-12)


def test_mips_derivatives(rng):
    J = np.eye(2) + 0.3 * rng.normal(size=(5, 2, 2))
    J[np.linalg.det(J) < 0.2] = np.eye(2)

    def phi(J):
        inverse = np.linalg.inv(J)
        return ((J**2).sum((1, 2)) * (inverse**2).sum((1, 2))).sum()

    d = rng.normal(size=J.shape)
    g, H = mips_derivatives(J)
    assert_derivative(phi, (g * d).sum(), J, d, 1e-7)
    convex = 0.02 * rng.normal(size=(5, 2, 2)) + np.eye(2)  # near the minimum, nothing is clamped
    exact = np.einsum("qisjt,qjt->qis", mips_derivatives(convex)[1], d)
    difference = mips_derivatives(convex + 1e-6 * d)[0] - mips_derivatives(convex - 1e-6 * d)[0]
    error = difference / 2e-6 - exact
    assert np.abs(error).max() < 0.2 * np.abs(exact).max()
    assert np.linalg.eigvalsh(H.reshape(5, 4, 4)).min() > -1e-12 * np.abs(H).max()
    assert mips_derivatives(np.eye(2)[None])[0] == pytest.approx(0.0, abs=1e-12)


def test_objective_derivative(rng):
    net = initial_net(*(np.array(c) for c in quad(9)))
    search = Mips(net, [SidePoints.of(np.array(c), 9) for c in quad(9)], 1e3)
    x, d = net + 0.005 * rng.normal(size=net.shape), rng.normal(size=net.shape)
    slope = (search.derivatives(x)[0].reshape(net.shape) * d).sum()
    h = 1e-6
    difference = (search.value(x + h * d) - search.value(x - h * d)) / (2 * h)
    assert difference == pytest.approx(slope, rel=1e-6)


def quad(n):
    corners = np.array([[0.0, 0.0], [1.0, 0.1], [1.1, 0.9], [-0.1, 0.8]])
    t = np.linspace(0, 1, n)[:, None]
    ends = ((0, 1), (1, 2), (3, 2), (0, 3))
    return [corners[i] * (1 - t) + corners[j] * t for i, j in ends]


def test_curved_piece_is_followed_and_improved():
    mesh = piece(SKIRT, 0.04)
    fit = fit_piece(mesh, 20, 18)
    assert fit.deviation < 1e-3 and fit.iterations < 30
    # Straight guides between the sides, before the net is optimized.
    start = fit_piece(mesh, 20, 18, settings=FitSettings(boundary=1e9))
    assert 4.0 <= fit.mips <= start.mips + 1e-9 and fit.mips < 4.2


def test_inverted_guides_are_untangled():
    """A deep notch in one side inverts the guided and the blended net; Newton finds a valid one."""
    mesh = piece([(0, 0), (1, 0), (1, 0.5), (0.5, 0.2), (0, 1)])
    outline = outline_of(mesh)
    chosen = along_warp(
        outline,
        check_corners(outline, [place(mesh, p) for p in ((0, 0), (1, 0), (1, 0.5), (0, 1))]),
    )
    search = _build_initial_net(outline, sides_of(outline, chosen), 12, 12, FitSettings())
    assert len(search.find_inversions(search.start)) and len(
        search.find_inversions(search.blend_sides())
    )
    assert len(search.find_inversions(search.untangle())) == 0
    fit = fit_patch(outline, sides_of(outline, chosen), 12, 12)
    u = np.linspace(0.01, 9.99, 60)
    uv = np.stack(np.meshgrid(u, u), axis=2).reshape(-1, 2)
    assert (fit.patch.area_density(uv) > 0).all() and fit.deviation < 0.04


def place(mesh, point):
    return int(np.argmin(((mesh.vertex_uv - point) ** 2).sum(1)))


def test_softened_determinants_are_differentiated(rng):
    J, d = rng.normal(size=(6, 2, 2)), rng.normal(size=(6, 2, 2))

    def phi(J):
        c = soften(np.linalg.det(J), 0.3)[0]
        return (((J**2).sum((1, 2)) / c) ** 2).sum()

    assert_derivative(phi, (mips_derivatives(J, 0.3)[0] * d).sum(), J, d, 1e-6)


def ring(n=40):
    t = 2 * np.pi * np.arange(n) / n
    return np.stack([0.4 * np.cos(t), 0.4 * np.sin(t)], axis=1)


def test_pieces_that_no_patch_fits_are_named(tmp_path):
    with refused(PatchError, "corners of the piece", got="0 usable"):
        fit_piece(piece(ring()), 8, 8)
    with refused(PatchError, "piece to fit", got="2 borders"):
        mesh = weft.triangulate(4 * ring(), [ring(16)[::-1]], size=0.2).mesh
        fit_piece(mesh, 8, 8)
    with refused(PatchError, "control points of a fitted patch", expected="5"):
        fit_piece(piece([(0, 0), (1, 0), (1, 0.7), (0, 0.7)]), 4, 8)
    notch = [(0, 0), (1, 0), (1, 0.2), (0.2, 0.2), (0.2, 0.8), (1, 0.8), (1, 1), (0, 1)]
    with refused(PatchError, "control net") as inverted:
        fit_piece(piece(notch), 12, 12, corners=[0, 1, 4, 7])
    save_piece(tmp_path / "piece.png", inverted.value.drawing)
    assert (tmp_path / "piece.png").stat().st_size > 2000


def test_lifting_is_barycentric_inside_and_bounded_outside():
    mesh = grid(6, 5, 1.0, 0.8, "random", seed=1)
    A = np.array([[1.0, 0.2, 0.1], [0.0, 0.9, -0.4]])
    corners = mesh.corner_uv @ A
    inside = np.array([[0.31, 0.2], [0.7, 0.55], [0.0, 0.0]])
    near = np.array([[1.04, 0.3]])  # little outside: extrapolated
    np.testing.assert_allclose(lift(inside, mesh.corner_uv, corners), inside @ A, atol=1e-12)
    np.testing.assert_allclose(lift(near, mesh.corner_uv, corners), near @ A, atol=1e-12)
    far = lift(np.array([[1.6, 0.3]]), mesh.corner_uv, corners)[0]
    assert far == pytest.approx(np.array([1.0, 0.3]) @ A, abs=0.12)


def two_panels(columns=7, rows=6, offset=(2.0, 0.0)):
    """A sheet of two panels that share the vertices between them, each with its own material."""
    mesh = grid(2 * columns - 1, rows, 1.0, 0.5)
    uv = np.array(mesh.corner_uv)
    right = uv[:, :, 0].mean(1) > 0.5
    uv[right] += offset
    return TriangleMesh(mesh.vertices, mesh.faces, uv, mesh.groups)


def test_panels_are_joined_along_their_seam():
    mesh = two_panels()
    assert len(flat_pieces(mesh)) == 2
    found = fit_pieces(mesh, size=0.1, smooth=True)
    (joint,) = found.surface.joints
    assert {joint.first[1], joint.second[1]} == {"left", "right"} and joint.smooth
    shapes = [p.shape for p in found.surface.patches]
    assert found.surface.n_points == sum(a * b for a, b in shapes) - shapes[0][1]
    assert found.surface.ties is None
    shown = found.surface.tessellate(2)
    x = shown.embedding.of(found.points)
    assert np.ptp(x[:, 0]) == pytest.approx(1.0) and np.abs(x[:, 1]).max() < 1e-12
    near = mesh.vertices[found.nearest_vertices(shown)]
    assert np.linalg.norm(x - near, axis=1).max() < 0.1


def test_smooth_joint_bends_like_the_cloth():
    """Two panels rolled up as one cylinder: the slope does not jump, and a fold costs."""
    found = fit_pieces(two_panels(), size=0.08, smooth=True)
    (jump,) = found.surface.seams(1e-4, 1e-4)
    flat = found.points
    assert 0.5 * (jump.weight * amounts(jump, flat)).sum() < 1e-20
    fold = np.array(flat)
    x = fold[:, 0].copy()
    fold[:, 1] = np.tan(0.3) * np.abs(x)
    angle_sq = (2 * np.tan(0.3)) ** 2
    size = 0.5 / found.surface.patches[0].spans[0]
    expected = 0.5 * 10.0 * 1e-4 / size * angle_sq * 0.5  # SMOOTH D/h angle^2/2 times 0.5 m
    assert 0.5 * (jump.weight * amounts(jump, fold)).sum() == pytest.approx(expected, rel=1e-6)


def amounts(form, x):
    y = np.einsum("qa,qai->qi", form.coefficient, x[form.stencil])
    return (y**2).sum(1)
