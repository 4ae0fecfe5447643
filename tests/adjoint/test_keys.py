"""Derivatives beside and by numbers that change in time, against differences of runs."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.adjoint.cases import compared, hung, landing, noise, quotient
from tests.adjoint.recut import sewn
from weft.adjoint import Adjoint, EnergyLoss
from weft.base.errors import SceneError
from weft.energies.seams.seam_hinges import SeamHinges
from weft.energies.seams.seam_keyframes import FoldingKeys

BESIDE = ["fabric.density", "fabric.stretch_warp", "fabric.bending_warp", "pins.pin.keyframes"]


def keys(*values, between="linear"):
    """Spread over 30 ms, more than the runs take."""
    return weft.Keys(list(zip(np.linspace(0, 0.03, len(values)), values)), between)


def keyed_fabric(scene, **numbers):
    """The scene with a fabric whose numbers change."""
    cloth = scene.cloth
    fabric = dataclasses.replace(cloth.fabric, keyed=numbers)
    return scene.with_(cloth=dataclasses.replace(cloth, fabric=fabric))


@pytest.mark.parametrize(
    "integrator, between",
    [
        ("backward_euler", "linear"),
        ("bdf2", "smooth"),
        pytest.param("backward_euler", "hold", marks=pytest.mark.slow),
    ],
)
def test_gravity_and_fabric(integrator, between):
    fabric = hung().cloth.fabric
    numbers = {
        "shear": keys(fabric.shear, 0.5 * fabric.shear, 2 * fabric.shear, between=between),
        "density": keys(fabric.density, 1.4 * fabric.density, between=between),
        "damping": keys(0.01, 0.03, between=between),
    }
    scene = hung(integrator, keyed={"gravity.1": keys(-9.81, -3.0, between=between)})
    by = ["gravity.1.keys", "gravity", *(f"fabric.{name}.keys" for name in numbers)]
    names = [*by, *(n for n in BESIDE if n != "fabric.density")]
    got, expected, found = compared(keyed_fabric(scene, **numbers), names)
    assert got == pytest.approx(expected, rel=1e-5)
    assert found.gradient["gravity"][1] == 0  # its keys say what it is
    assert found.gradient["fabric.shear.keys"].shape == (3,)


def test_a_number_that_has_keys_is_known_by_them():
    scene = keyed_fabric(hung(), shear=keys(50.0, 10.0))
    names = Adjoint(scene, noise(16), frames=1, fps=100).names
    assert "fabric.shear.keys" in names and "fabric.shear" not in names


def test_a_key_beyond_the_run_counts_by_what_is_between():
    """With a step that ends at t, numbers are (1 - s) of the first key and s of the last."""
    scene = hung(keyed={"gravity.1": weft.Keys([(0.0, -9.81), (1.0, -9.0)])})
    scene = scene.with_(settings=weft.StepSettings(tolerance=1e-6))  # no halves
    by = Adjoint(scene, noise(16), ["gravity.1.keys"], frames=1, fps=100)().gradient
    first, last = by["gravity.1.keys"]
    assert last / first == pytest.approx(0.01 / 0.99, rel=1e-7)


def test_friction_that_changes():
    scene = landing(keyed={"contact.friction": weft.Keys([(0, 0.1), (0.02, 0.6)])})
    names = ["contact.friction.keys", "contact.gap", "fabric.density", "bodies.table.translation"]
    got, expected, _ = compared(scene, names, frames=2, fps=200, h=1e-4)
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_wind_with_gusts():
    wind = weft.Wind((1.0, 0.2, 0.5), gusts=weft.Gusts(0.3, 0.2))
    numbers = {
        "wind.velocity.0": keys(1.0, 3.0),
        "wind.drag": keys(1.3, 1.5),
        "damping": keys(0.01, 0.02),
    }
    scene = hung(wind=wind, keyed=numbers)
    names = [*(f"{n}.keys" for n in numbers), "wind.density", "fabric.density"]
    got, expected, _ = compared(scene, names)
    assert got == pytest.approx(expected, rel=1e-5)


def test_what_is_asked_of_a_frame_has_its_numbers():
    """The energy of a frame, by the stiffness that the cloth has then."""
    scene = keyed_fabric(hung("quasi_static"), bending_warp=keys(1e-5, 9e-5))
    got, expected, _ = compared(
        scene, ["fabric.bending_warp.keys"], frames=1, velocities=0.0, loss=EnergyLoss("bending")
    )
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_tangents_say_the_same():
    scene = keyed_fabric(hung("bdf2"), shear=keys(50.0, 10.0))
    adjoint = Adjoint(scene, noise(16), ["fabric.shear.keys"], frames=2, fps=100)
    back = adjoint().gradient["fabric.shear.keys"]
    dx, dv = adjoint.tangent("fabric.shear.keys")
    _, by_x, by_v = noise(16)(np.zeros(dx.shape[:3]), np.zeros(dx.shape[:3]), None)
    ahead = np.einsum("fni,fnik->k", by_x, dx) + np.einsum("fni,fnik->k", by_v, dv)
    np.testing.assert_allclose(ahead, back, rtol=1e-5)


def with_seams(scene, change):
    """The scene with other hinges across its seams."""
    made = [change(e) if isinstance(e, SeamHinges) else e for e in scene.energies]
    return scene.with_(energies=made)


def scaled(scene, values):
    """Weights and rest angles of its seams' hinges times two numbers, and another damping."""
    weight, angle, damping = values
    return with_seams(
        scene,
        lambda e: dataclasses.replace(
            e, weight=weight * e.weight, rest_angle=angle * e.rest_angle, damping=float(damping)
        ),
    )


def test_seams_whose_folds_change():
    """By constants of their hinges, at the weights and angles of each step's time: keys replace the
    angles of two of four hinges, and of one of these the weight.
    """
    turning, stiffening = keys(0.3, -0.5, 0.2), keys(0.003, 0.01)

    def fold(e):
        both = [
            FoldingKeys(np.array([row]), turning, np.array([0.04]), stiffness, 0.0)
            for row, stiffness in ((0, None), (2, stiffening))
        ]
        return dataclasses.replace(e, foldings=both, begin=0.005, rest_angle=e.rest_angle + 0.1)

    scene = with_seams(sewn(), fold)
    (seams,) = (e for e in scene.energies if isinstance(e, SeamHinges))
    assert len(seams.weight) == 4 and seams.at(0.015).rest_angle[0] == pytest.approx(-0.5)
    parameter = weft.Parameter("seams", [1.0, 1.0, 0.05], scaled)
    loss = noise(scene.cloth.n_vertices)
    adjoint = Adjoint(scene, loss, [parameter], frames=3, fps=100)
    found = adjoint()
    assert found.report.differences == {}
    for k in range(3):
        way = np.eye(3)[k]

        def along(s, way=way):
            return adjoint.with_values({"seams": parameter.value + s * way}).value()

        got = float(found.gradient["seams"][k])
        assert got == pytest.approx(quotient(along, 1e-3 if k < 2 else 1e-4), rel=1e-5)


def test_recomputed_steps_have_their_own_numbers():
    scene = keyed_fabric(hung(), shear=keys(50.0, 10.0), density=keys(0.1, 0.2))
    names = ["fabric.shear.keys", "fabric.density.keys", "positions"]
    whole, little = (
        Adjoint(scene, noise(16), names, frames=4, fps=100, memory=m)() for m in (1e9, 0)
    )
    assert little.report.recomputed == 4
    for name in names:
        assert np.array_equal(whole.gradient[name], little.gradient[name])


@pytest.mark.parametrize(
    "message, change",
    [
        ("thickness that changes", lambda: landing(keyed={"contact.thickness": keys(0.0, 1e-4)})),
        (
            "limits of strain that change",
            lambda: keyed_fabric(
                weft.Scene(weft.sheet(4, 4, fabric={"preset": "cotton", "limit": 0.1})),
                limit_warp=keys(0.1, 0.2),
            ),
        ),
    ],
)
def test_refused_by_name(message, change):
    with pytest.raises(SceneError, match=message):
        Adjoint(change(), noise(16), ["fabric.shear"], frames=1, fps=100)()


def test_the_rest_shape_of_a_fabric_that_changes_is_refused():
    scene = keyed_fabric(hung(), shear=keys(50.0, 10.0))
    with pytest.raises(SceneError, match="changes in time"):
        Adjoint(scene, noise(16), ["rest"], frames=1, fps=100)()
