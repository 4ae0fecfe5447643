"""The whole method in one file of NumPy, with weft's definitions and without weft.

A sheet that is held at one point falls and folds onto itself. Read it beside Baraff & Witkin 1998
(the membrane, implicit steps), Kim 2020 (the same as psi(F), with projection), Grinspun et al. 2003
(bending), Li et al. 2020 (IPC: the barrier) and Li et al. 2021 (C-IPC: collision detection).

A step of h [s] from positions x_n and velocities v_n minimizes the incremental potential

    Phi(x) = |x - y|_M^2 / (2 h^2) + weight + membrane + bending + contact,   y = x_n + h v_n

whose minimum is backward Euler. n vertices, m faces, k pairs; SI units. A *stencil* (e,s) lists the
s vertices of each of e elements.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix, diags
from scipy.sparse.linalg import splu

GRAVITY = 9.81  # [m/s^2], along -y
CONTACT_LOAD = 10.0  # a vertex pressed with so many mean weights rests at half the gap
HALF_FORCE = 4.3294  # force of the barrier at half the gap, over k gap^3
PARALLEL = 1e-3  # mollifier threshold over the squared rest lengths, IPC section 5.1


@dataclass(frozen=True)
class Fabric:
    """Numbers of a cloth (weft's preset ``cotton``); pairs are (warp, weft)."""

    density: float = 0.1503  # [kg/m^2]
    stretch: tuple[float, float] = (4000.0, 3000.0)  # ku, kv [N/m]
    shear: float = 40.0  # ks [N/m]
    bending: tuple[float, float] = (1.157e-5, 1.157e-5)  # flexural rigidity D [N m]


@dataclass(frozen=True, eq=False)
class Cloth:
    """What does not change in time: the mesh at rest, masses and stiffnesses."""

    fabric: Fabric
    uv: np.ndarray  # (n,2) [m] material coordinates, u along the warp
    faces: np.ndarray  # (m,3) vertex ids
    edges: np.ndarray  # (e,2), each once
    hinges: np.ndarray  # (h,4): edge start, edge end, tips of the faces on the left and right
    dN: np.ndarray  # (m,3,2) [1/m] gradients of the linear shape functions
    area: np.ndarray  # (m,) [m^2] of faces at rest
    hinge_weight: np.ndarray  # (h,) [J] w of the bending energy
    mass: np.ndarray  # (n,) [kg]
    pinned: np.ndarray  # (n,) True where a vertex does not move
    gap: float  # [m] distance at which contact begins, dhat in IPC


def sheet(nx, ny, width, height, pinned, gap, fabric):
    """Return the positions (n,3) [m] and the ``Cloth`` of a rectangle of nx by ny vertices.

    It lies on y = 0, centered at the origin, with the warp along x. ``pinned`` are vertex ids;
    ``gap`` [m] has to be less than 2/3 of the height of triangles, else weft uses a smaller gap
    for neighbors. A vertex has the mass of a third of the faces around it. The hinge weight is
    w = 5/4 D l^2 / A (Grinspun et al. 2003, with D [N m] and weft's factor,
    docs/explanations/bending.md)."""
    u, v = np.meshgrid(np.linspace(0, width, nx), np.linspace(0, height, ny))
    uv = np.stack([u.ravel(), v.ravel()], axis=1)
    x = np.stack([uv[:, 0] - width / 2, 0 * uv[:, 0], height / 2 - uv[:, 1]], axis=1)
    i, fixed = np.arange(nx * ny).reshape(ny, nx), np.isin(np.arange(nx * ny), pinned)
    a, b, c, d = (s.ravel() for s in (i[:-1, :-1], i[:-1, 1:], i[1:, 1:], i[1:, :-1]))
    faces = np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3)
    # Every half-edge (start, end) of a face knows the vertex across from it.
    across = {(f[j], f[(j + 1) % 3]): f[(j + 2) % 3] for f in faces.tolist() for j in range(3)}
    edges = np.array(sorted({(min(e), max(e)) for e in across}))
    inner = [(s, e) for s, e in across if s < e and (e, s) in across]
    hinges = np.array([(s, e, across[s, e], across[e, s]) for s, e in inner])
    # Dm (m,2,2) has two material edges as columns: dN of the vertices 1 and 2 are rows of Dm^-1.
    Dm = np.stack([uv[faces[:, 1]] - uv[faces[:, 0]], uv[faces[:, 2]] - uv[faces[:, 0]]], axis=2)
    area, Dm_inv = 0.5 * np.linalg.det(Dm), np.linalg.inv(Dm)
    dN = np.concatenate([-Dm_inv.sum(1, keepdims=True), Dm_inv], axis=1)
    mass = np.zeros(len(x))
    np.add.at(mass, faces, fabric.density * area[:, None] / 3)

    e_u, e_v = (uv[hinges[:, 1]] - uv[hinges[:, 0]]).T
    tips = uv[hinges[:, 2:]] - uv[hinges[:, :1]]  # (h,2,2)
    both_areas = 0.5 * np.abs(e_u[:, None] * tips[..., 1] - e_v[:, None] * tips[..., 0]).sum(1)
    weight = 1.25 * (fabric.bending[0] * e_v**2 + fabric.bending[1] * e_u**2) / both_areas
    return x, Cloth(fabric, uv, faces, edges, hinges, dN, area, weight, mass, fixed, gap)


def dot(a, b=None):
    """Return the dot products of the last axes of a and b, or of a and itself."""
    return (a * (a if b is None else b)).sum(-1)


def outer(a):
    """Return the outer products (k,i,i) of the rows of a (k,i) with themselves."""
    return a[:, :, None] * a[:, None, :]


# Energies. Each function returns the stencil (e,s) of its elements, energies (e,) [J] and, with
# ``derivatives``, gradients (e,s,3) [N] and positive semi-definite Hessians (e,3s,3s) [N/m].


def membrane(cloth, x, derivatives=True):
    """Return energies, gradients and projected Hessians of the faces at positions x (n,3) [m].

    psi(F) = 1/2 ku (|f0| - 1)^2 + 1/2 kv (|f1| - 1)^2 + 1/2 ks (f0 . f1)^2,  F = [f0 f1] (3,2)
    (Kim 2020, eqs. 11 and 13, each with 1/2), times the area. The Hessian is projected in closed
    form: that of stretch has the eigenvalues k along f, and k (1 - 1/|f|) twice across, which are
    set to zero where f is compressed (eqs. 21-26); that of shear is ``shear_hessian``.
    """
    f = np.einsum("mai,maj->mji", x[cloth.faces], cloth.dN)  # (m,2,3): the columns of F
    k, ks = np.array(cloth.fabric.stretch), cloth.fabric.shear
    length, I6 = np.linalg.norm(f, axis=2), dot(f[:, 0], f[:, 1])
    psi = 0.5 * ((length - 1) ** 2 @ k + ks * I6**2)
    if not derivatives:
        return cloth.faces, cloth.area * psi, None, None
    P = (k * (1 - 1 / length))[..., None] * f + (ks * I6)[:, None, None] * f[:, ::-1]  # eq. 29
    gradient = np.einsum("m,mji,maj->mai", cloth.area, P, cloth.dN)
    nn = f[..., :, None] * f[..., None, :] / length[..., None, None] ** 2
    across = (k * np.maximum(1 - 1 / length, 0))[..., None, None] * (np.eye(3) - nn)
    H = ks * shear_hessian(f).reshape(-1, 2, 3, 2, 3)
    for j in (0, 1):
        H[:, j, :, j] += k[j] * nn[:, j] + across[:, j]
    hessian = np.einsum("m,maj,mjpkq,mbk->mapbq", cloth.area, cloth.dN, H, cloth.dN)
    return cloth.faces, cloth.area * psi, gradient, hessian.reshape(-1, 9, 9)


def shear_hessian(f):
    """Return the projected d2/dF2 (m,6,6) of 1/2 I6^2, I6 = f0 . f1, for columns f (m,2,3) of F.

    It is g g^T + I6 K with g = (f1, f0), K (t, u) = (u, t). Positive eigenvalues are
    (I2 + sqrt(I2^2 + 12 I6^2))/2, I2 = |F|^2, with the eigenvector q = I6 (f0, f1) + lambda g, and
    |I6| in the space of (t, s t), s = sign(I6), without t = f1 + s f0 (Kim 2020, eqs. 32-41 and
    Appendix A).
    """
    I6, F, g = dot(f[:, 0], f[:, 1])[:, None], f.reshape(-1, 6), f[:, ::-1].reshape(-1, 6)
    I2, s = dot(F)[:, None], np.where(I6 < 0, -1.0, 1.0)
    largest = 0.5 * (I2 + np.sqrt(I2**2 + 12 * I6**2))
    q, t = I6 * F + largest * g, g + s * F
    K = np.kron([[0, 1], [1, 0]], np.eye(3))
    twice = 0.5 * (np.eye(6) + s[..., None] * K) - outer(t) / dot(t)[:, None, None]
    return (largest[:, 0] / dot(q))[:, None, None] * outer(q) + np.abs(I6)[..., None] * twice


def bending(cloth, x, derivatives=True):
    """Return energies, gradients and Gauss-Newton Hessians of the hinges at positions x (n,3) [m].

    E = 1/2 w theta^2, theta [rad] the signed dihedral angle, 0 when flat (Grinspun et al. 2003;
    Kim 2020, section 5). A tip turns the angle by its face's unit normal over its height; the edge
    balances force and moment (Tamstorf & Grinspun 2013). The Hessian keeps w dtheta dtheta^T alone.
    """
    x0, x1, x2, x3 = np.moveaxis(x[cloth.hinges], 1, 0)
    e, w = x1 - x0, cloth.hinge_weight
    n2, n3 = np.cross(e, x2 - x0), np.cross(x3 - x0, e)
    length = np.linalg.norm(e, axis=1)
    theta = np.arctan2(dot(e, np.cross(n3, n2)) / length, dot(n2, n3))
    energy = 0.5 * w * theta**2
    if not derivatives:
        return cloth.hinges, energy, None, None
    g2 = (length / dot(n2))[:, None] * n2
    g3 = (length / dot(n3))[:, None] * n3
    t2 = (dot(x2 - x0, e) / length**2)[:, None]  # feet of the tips on the edge
    t3 = (dot(x3 - x0, e) / length**2)[:, None]
    g = np.stack([-(1 - t2) * g2 - (1 - t3) * g3, -t2 * g2 - t3 * g3, g2, g3], axis=1)
    w = w[:, None, None]
    return cloth.hinges, energy, theta[:, None, None] * w * g, w * outer(g.reshape(-1, 12))


# Contact. A pair has four vertices: a point and a triangle (p, a, b, c), or two edges (a, b, c, d).
# The vector between its closest points is v = sum_a w_a x_a with w = w0 + p0 dw[0] + p1 dw[1]. At a
# bound of the parameters p it goes from a vertex to an edge: (vertex, start, end) in FEATURES.

W0 = np.array([[1.0, -1, 0, 0], [1, 0, -1, 0]])  # point-triangle, edge-edge
DW = np.array([[[0.0, 1, -1, 0], [0, 1, 0, -1]], [[-1, 1, 0, 0], [0, 0, 1, -1]]])
FEATURES = (((0, 1, 2), (0, 2, 3), (0, 3, 1)), ((0, 2, 3), (1, 2, 3), (2, 0, 1), (3, 0, 1)))


def closest_points(X, is_edge):
    """Return weights w (k,4) and dw (k,2,4) of the closest points of pairs X (k,4,3) [m].

    ``is_edge`` (k,) is True for two edges. dw are derivatives of w by the parameters; where one is
    at its bound its dw is zero. The nearest of all features wins (Ericson 2005, section 5.1).
    """
    w, dw = np.empty((len(X), 4)), np.empty((len(X), 2, 4))
    for kind in (0, 1):
        rows = np.flatnonzero(is_edge == kind)
        x, inner, choices = X[rows], DW[kind], np.zeros((1 + len(FEATURES[kind]), len(rows), 3, 4))
        v0, (t0, t1) = W0[kind] @ x, np.moveaxis(inner @ x, 1, 0)
        det = np.maximum(dot(np.cross(t0, t1)), 1e-300)  # of the normal equations t.v = 0
        p0 = (dot(t1, v0) * dot(t0, t1) - dot(t0, v0) * dot(t1)) / det
        p1 = (dot(t0, v0) * dot(t0, t1) - dot(t1, v0) * dot(t0)) / det
        inside = (np.minimum(p0, p1) > 0) & ((np.maximum(p0, p1) if kind else p0 + p1) < 1)
        p = np.where(inside, [p0, p1], 0).T
        choices[0, :, 0], choices[0, :, 1:] = W0[kind] + p @ inner, inner
        for choice, (vertex, start, end) in zip(choices[1:], FEATURES[kind]):
            e = x[:, end] - x[:, start]
            s = np.clip(dot(x[:, vertex] - x[:, start], e) / dot(e), 0, 1)
            choice[:, 0, vertex], choice[:, 0, start], choice[:, 0, end] = 1, s - 1, -s
            choice[:, 1, start] = (s > 0) & (s < 1)
            choice[:, 1, end] = -choice[:, 1, start]
        D = dot((choices[:, :, :1] @ x)[:, :, 0])
        D[0, ~inside] = np.inf
        best = choices[D.argmin(0), np.arange(len(rows))]
        w[rows], dw[rows] = best[:, 0], best[:, 1:]
    return w, dw


def barrier(cloth, x, pairs, derivatives=True):
    """Return energies, gradients and projected Hessians of ``pairs`` at positions x (n,3) [m].

    E = k m b(D), b(D) = -(D - Y)^2 ln(D/Y) for D < Y = gap^2 (IPC, eq. 6), with D [m^2] the squared
    distance and k [J/m^4] such that ``CONTACT_LOAD`` mean weights rest at half the gap; weft also
    raises k between steps where cloth is pressed harder. m = C/c (2 - C/c) for edges with
    C = |e x f|^2 < c, else 1, as the distance is not smooth where edges are parallel (IPC, eq. 24).
    Hessians are clamped by eigendecompositions (IPC, section 4.3), without derivatives of m.
    """
    stencil, is_edge = pairs
    X, Y = x[stencil], cloth.gap**2
    k = CONTACT_LOAD * GRAVITY * cloth.mass.mean() / (HALF_FORCE * cloth.gap**3)
    w, dw = closest_points(X, is_edge)
    near = dot(np.einsum("ka,kai->ki", w, X)) < Y
    stencil, is_edge, X, w, dw = (a[near] for a in (stencil, is_edge, X, w, dw))
    v = np.einsum("ka,kai->ki", w, X)
    D = dot(v)
    b = -((D - Y) ** 2) * np.log(D / Y)
    e, f, rest = X[:, 1] - X[:, 0], X[:, 3] - X[:, 2], cloth.uv[stencil]
    c = PARALLEL * (dot(rest[:, 1] - rest[:, 0]) * dot(rest[:, 3] - rest[:, 2]))
    r = np.where(is_edge, np.minimum(dot(np.cross(e, f)) / c, 1), 1)
    m = r * (2 - r)
    if not derivatives:
        return stencil, k * m * b, None, None
    b1 = (Y - D) * (2 * np.log(D / Y) - Y / D + 1)  # b' < 0
    b2 = (Y / D + 2) * Y / D - 2 * np.log(D / Y) - 3  # b''
    dD = 2 * w[:, :, None] * v[:, None]  # (k,4,3)
    dm = (k * b * (2 - 2 * r) / c)[:, None]  # k b dm/dC; dC/de = 2 (|f|^2 e - (e.f) f)
    de = 2 * dm * (dot(f)[:, None] * e - dot(e, f)[:, None] * f)
    df = 2 * dm * (dot(e)[:, None] * f - dot(e, f)[:, None] * e)
    gradient = (k * m * b1)[:, None, None] * dD + np.stack([-de, de, -df, df], axis=1)
    H = b2[:, None, None] * outer(dD.reshape(-1, 12))
    H += b1[:, None, None] * squared_distance_hessian(X, w, dw, v)
    values, vectors = np.linalg.eigh(H)
    positive = vectors * ((k * m)[:, None] * np.maximum(values, 0))[:, None]
    return stencil, k * m * b, gradient, positive @ vectors.transpose(0, 2, 1)


def squared_distance_hessian(X, w, dw, v):
    """Return d2D/dx2 (k,12,12) of pairs X (k,4,3) [m] with the closest points w, dw, v.

    d2D = 2 w w^T (x) I - 2 sum_pq (G^-1)_pq c_p c_q^T,  c_p = dw_p (x) v + w (x) t_p,
    t_p = sum_a dw_pa x_a,  G_pq = t_p . t_q: the free parameters follow the vertices such that D
    stays the least one (the implicit function theorem).
    """
    t = dw @ X
    G = t @ t.transpose(0, 2, 1) + (dw == 0).all(2)[:, :, None] * np.eye(2)  # c_p = 0 at a bound
    c = (dw[..., None] * v[:, None, None] + w[:, None, :, None] * t[:, :, None]).reshape(-1, 2, 12)
    H = np.einsum("ka,kb,ij->kaibj", w, w, np.eye(3)).reshape(-1, 12, 12)
    return 2 * H - 2 * np.einsum("kpi,kpj->kij", c, np.linalg.solve(G, c))


def candidate_pairs(cloth, x, d):
    """Return the stencil (k,4) and ``is_edge`` (k,) of pairs that may touch between x and x + d.

    These are the pairs whose boxes over the way d (n,3) [m] come within the gap of each other.
    Pairs with a common vertex are left out, and so are pairs whose vertices are all pinned.
    """
    low = np.minimum(x, x + d) - cloth.gap / 2
    high = np.maximum(x, x + d) + cloth.gap / 2

    def overlapping(a, b):
        """Return whether a has the lower row, and ids (k,4) of a and b whose boxes overlap."""
        hit = np.ones((len(a), len(b)), dtype=bool)
        for i in range(3):
            hit &= low[a, i].min(1)[:, None] <= high[b, i].max(1)
            hit &= high[a, i].max(1)[:, None] >= low[b, i].min(1)
        rows, columns = np.nonzero(hit)
        return rows < columns, np.hstack([a[rows], b[columns]])

    _, points = overlapping(np.arange(len(x))[:, None], cloth.faces)
    points = points[(points[:, :1] != points[:, 1:]).all(1)]
    once, edges = overlapping(cloth.edges, cloth.edges)
    edges = edges[once & (edges[:, :2, None] != edges[:, None, 2:]).all((1, 2))]
    stencil = np.concatenate([points, edges])
    free = ~cloth.pinned[stencil].all(1)
    return stencil[free], (np.arange(len(stencil)) >= len(points))[free]


def distances(X, is_edge):
    """Return the distances (k,) [m] of pairs X (k,4,3) [m] with ``is_edge`` (k,)."""
    return np.linalg.norm((closest_points(X, is_edge)[0][:, None] @ X)[:, 0], axis=1)


def largest_step(x, d, pairs):
    """Return the part of the way d (n,3) [m] from x, in [0, 1], that no pair of ``pairs`` forbids.

    Additive continuous collision detection (C-IPC, section 5): points of a pair approach each other
    by at most ``speed`` [m] on the whole way, so that the pair may advance by its distance over
    that, and is looked at again. Every pair keeps a tenth of its first distance.
    """
    stencil, is_edge = pairs
    X, dX = x[stencil], d[stencil] - d[stencil].mean(1, keepdims=True)
    size = np.linalg.norm(dX, axis=2)
    sides = np.where(is_edge[:, None], [[0, 0, 1, 1]], [[0, 1, 1, 1]])
    speed = sum(np.where(sides == side, size, 0).max(1) for side in (0, 1)) + 1e-300
    distance = distances(X, is_edge)
    keep, t, going = 0.1 * distance, np.zeros(len(X)), np.arange(len(X))
    while len(going):
        t[going] += (distance[going] - keep[going]) / speed[going]
        going = going[t[going] < 1]
        distance[going] = distances((X + t[:, None, None] * dX)[going], is_edge[going])
        going = going[distance[going] - keep[going] > 1e-3 * keep[going]]
    return min(t.min(initial=1), 1)


def potential(cloth, x, y, h, pairs, derivatives=True):
    """Return Phi [J] at x (n,3) [m], its gradient (3n,) [N] and its sparse Hessian (3n,3n) [N/m].

    Phi = |x - y|_M^2 / (2 h^2) + sum m g x_y + membrane + bending + contact (IPC, eq. 3).
    """
    inertia, off = np.repeat(cloth.mass / h**2, 3), (x - y).ravel()
    weight = np.outer(cloth.mass, [0, GRAVITY, 0]).ravel()
    value = 0.5 * inertia @ off**2 + weight @ x.ravel()
    terms = [energy(cloth, x, derivatives) for energy in (membrane, bending)]
    terms.append(barrier(cloth, x, pairs, derivatives))
    value += sum(energy.sum() for _, energy, _, _ in terms)
    if not derivatives:
        return value, None, None
    gradient, hessian = inertia * off + weight, diags(inertia, format="csc")
    for stencil, _, g, H in terms:
        size = 3 * stencil.shape[1]
        ids = (3 * stencil[:, :, None] + np.arange(3)).reshape(-1, size)
        np.add.at(gradient, ids, g.reshape(-1, size))
        places = np.repeat(ids, size, axis=1).ravel(), np.tile(ids, size).ravel()
        hessian = hessian + coo_matrix((H.ravel(), places), hessian.shape).tocsc()
    return value, gradient, hessian


def step(cloth, x, v, h, tolerance=1e-2):
    """Return positions (n,3) [m] and velocities (n,3) [m/s] after a step of backward Euler, h [s].

    Newton's method begins where inertia alone would lead, as far as nothing is in the way, and ends
    where the largest displacement of an increment is below ``tolerance`` [m/s] times h. Pinned
    vertices stay: their rows are left out of the linear system.
    """
    y = np.where(cloth.pinned[:, None], x, x + h * v)
    start, free = x, np.repeat(~cloth.pinned, 3)
    pairs = candidate_pairs(cloth, x, y - x)
    x = x + largest_step(x, y - x, pairs) * (y - x)
    for _ in range(1000):
        value, gradient, hessian = potential(cloth, x, y, h, pairs)
        solver, d = splu(hessian[free][:, free], "MMD_AT_PLUS_A", 0.0), 0 * x  # no pivoting
        d.reshape(-1)[free] = -solver.solve(gradient[free])
        pairs = candidate_pairs(cloth, x, d)
        part = largest_step(x, d, pairs)
        if np.linalg.norm(d, axis=1).max() <= tolerance * h:
            return x + part * d, (x + part * d - start) / h
        x = x + line_search(cloth, x, y, h, d, pairs, value, gradient @ d.ravel(), part) * d
    raise RuntimeError("Newton's method has not converged")


def line_search(cloth, x, y, h, d, pairs, value, slope, part):
    """Return the part of d (n,3) [m] that decreases Phi enough: Armijo (Nocedal & Wright, eq. 3.4).

    Halve ``part`` until Phi falls by 1e-4 of what ``slope`` [J] promises. Where that is less than
    the round-off of Phi, values say nothing any more and the increment decides.
    """
    roundoff = 64 * np.finfo(float).eps * abs(value)
    slack = roundoff if -slope < 1e3 * roundoff else 0.0
    for a in part * 0.5 ** np.arange(24):
        if potential(cloth, x + a * d, y, h, pairs, False)[0] <= value + 1e-4 * a * slope + slack:
            return a
    raise RuntimeError("no part of Newton's direction decreases the potential")


def draw(cloth, x, path):
    """Write a picture of the cloth at x (n,3) [m] to a PNG file: a smooth surface through x."""
    import matplotlib.pyplot as plt
    from matplotlib.tri import Triangulation, UniformTriRefiner
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    refiner = UniformTriRefiner(Triangulation(*cloth.uv.T, cloth.faces))
    fine = [refiner.refine_field(x[:, i], subdiv=2) for i in (0, 2, 1)]  # the third axis is up
    corners = (np.stack([values for _, values in fine], axis=1) * [1, -1, 1])[fine[0][0].triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    front = (normals @ [0.33, -0.9, 0.29] > 0)[:, None]  # towards the camera
    shade = np.clip(0.55 + 0.45 * np.where(front, normals, -normals) @ [-0.5, -0.65, 0.57], 0, 1)
    colors = np.where(front, [[0.85, 0.42, 0.3]], [[0.95, 0.85, 0.7]]) * shade[:, None]
    axes = plt.figure().add_subplot(projection="3d", proj_type="ortho", elev=17, azim=-70)
    axes.add_collection3d(Poly3DCollection(corners, facecolors=colors, edgecolors=colors, lw=0.3))
    axes.auto_scale_xyz(*corners.reshape(-1, 3).T)
    axes.set_aspect("equal")
    axes.set_axis_off()
    plt.savefig(path, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    x, cloth = sheet(15, 15, 0.4, 0.4, pinned=[82], gap=5e-3, fabric=Fabric())
    v = np.zeros_like(x)
    for _ in range(30):
        x, v = step(cloth, x, v, h=0.02)
    draw(cloth, x, "essence.png")
    print(f"lowest point: {x[:, 1].min():.3f} m")
