"""What crosses between host and device in an iteration: numbers, but no arrays."""

from typing import NamedTuple

import numpy as np
import pytest

import weft
from tests.stepping import steps
from weft import kernel
from weft.contact import sphere
from weft.contact.broad_phase.candidate_search import CandidateCache
from weft.contact.detector import ContactDetector
from weft.scene.scene import Scene
from weft.solve.newton import minimize

# Reads of one iteration with contact and an iterative solver: does the matrix have a place for
# every pair, the end of the linear solve, the direction's size and slope, the vertices outside of
# their boxes, the limit, and the residual where the solver is chosen anew.
READS = 7
# Reads of one trial of the line search: the energy of each term; and the vertices outside of their
# boxes, their distance from the origin of the bounds, three lengths of lists and two energies.
TERMS, CONTACT = 4, 7
RENEWED = 4  # numbers of new candidates where vertices leave their boxes
# Arrays made by one iteration with contact, by each further trial, and by each search for
# candidates. Neither the mesh nor the number of linear iterations counts.
MADE, MADE_BY_TRIAL, MADE_BY_SEARCH = 18, 6, 46
# Uploads of a step without contact: pins, state, prediction, masses that move, and start and end
# of the search.
WITHOUT_CONTACT = 6


class Iteration(NamedTuple):
    """What one iteration of a search did."""

    same: bool  # whether the matrix' pattern was there before it
    traffic: kernel.Traffic
    trials: int  # of its line search
    searches: int  # for candidates, where vertices left their boxes


@pytest.fixture
def iterations(monkeypatch):
    """Iterations of searches to come. Those in which a factorization, which is work of the host,
    took over from an iterative solver are left out.

    Reductions run the kernels that other devices than the CPU run.
    """
    found, searches, advance = [], [], minimize.Search.advance

    def watched(search, *rest):
        system, trials = search.system, search.trials
        before, rescues = getattr(system.prepared, "A", None), system.rescues
        searches.clear()
        with kernel.count_traffic() as traffic:
            outcome = advance(search, *rest)
        same = before is not None and before.pattern is system.prepared.A.pattern
        if system.rescues == rescues:
            trials = search.trials - trials
            found.append(Iteration(same, traffic, trials, len(searches)))
        return outcome

    def counted(method):
        return lambda self, *rest: searches.append(1) or method(self, *rest)

    monkeypatch.setattr(minimize.Search, "advance", watched)
    monkeypatch.setattr(kernel.Reductions, "ON_HOST", False)
    for name in ("_renew_candidates", "_whole"):
        monkeypatch.setattr(CandidateCache, name, counted(getattr(CandidateCache, name)))
    return found


def laid(make, linear, n, contact=True, motion=None):
    """Cloth that slides on a ball, hung by its corners."""
    cloth = make(n, n, 0.2, 0.2).move((0.003, 0.104, 0.002))
    ball = sphere(0.1, 0.05).move((0.0, 0.0, 0.0), motion)
    meets = {"bodies": [ball], "contact": weft.SelfContact(4e-3, friction=0.3)}
    return Scene(
        cloth,
        [weft.Pin(cloth.corners("top"))],
        velocity=(0.2, -0.5, 0.0),
        settings=weft.StepSettings(linear=linear),
        **(meets if contact else {}),
    )


def most_reads(iteration, trial, once=READS):
    """Most numbers that an iteration reads, if it reads ``once`` and ``trial`` for each trial."""
    return once + trial * iteration.trials + RENEWED * iteration.searches


def stepped(scene, iterations):
    """Report of the last of three steps, to which ``iterations`` belong."""
    *_, begin = steps(scene, 2, 0.02)
    iterations.clear()
    ((*_, report),) = steps(scene, 1, 0.02, begin=begin[:2])
    return report


@pytest.mark.parametrize(
    "linear, make, n",
    [
        ("pcg", weft.sheet, 9),
        ("pcg", weft.spline_sheet, 17),
        ("multigrid", weft.sheet, 17),
        ("multigrid", weft.spline_sheet, 9),
    ],
)
def test_no_arrays_cross_in_an_iteration(linear, make, n, iterations, device):
    """With contact and friction, while the pattern stays what it was: no upload, no download. And
    as many arrays as searches for candidates ask for are made, of whatever length, and as many
    numbers are read with 9 x 9 vertices as with 17 x 17.
    """
    report = stepped(laid(make, linear, n), iterations)
    assert report.contact["count"] > 10 and report.terms["friction"] > 0
    assert report.linear_iterations > len(iterations) / 2
    kept = [one for one in iterations if one.same]
    assert len(kept) >= 4 and len(kept) >= len(iterations) - 3
    for one in kept:
        traffic, made = one.traffic, MADE + MADE_BY_SEARCH * one.searches
        assert traffic.uploads == traffic.downloads == 0, one
        assert traffic.scalars <= most_reads(one, TERMS + CONTACT), one
        assert traffic.allocations <= made + MADE_BY_TRIAL * max(one.trials - 1, 0), one


def test_simplified_increments_read_nothing_of_a_refused_direction(iterations):
    """A direct solver reads nothing; a direction that is refused is not followed."""
    stepped(laid(weft.sheet, "splu", 9), iterations)
    assert any(one.traffic.scalars == 0 for one in iterations)
    kept = [one for one in iterations if one.same]
    assert all(one.traffic.scalars <= most_reads(one, TERMS + CONTACT) for one in kept)


def test_reductions_by_kernels_are_those_of_the_host(iterations, monkeypatch):
    """The same cloth comes out as where NumPy computes them."""
    scene, found = laid(weft.sheet, "pcg", 9), []
    for on_host in (True, False):
        monkeypatch.setattr(kernel.Reductions, "ON_HOST", on_host)
        report = stepped(scene, iterations)
        found.append((report.contact["least_distance"], report.contact["count"]))
    (near, count), (near_too, count_too) = found
    assert near_too == pytest.approx(near, rel=1e-6) and count_too == count


@pytest.mark.parametrize(
    "make, linear, effort",
    [
        (weft.sheet, "pcg", "interactive"),
        (weft.spline_sheet, "pcg", "converged"),
        (weft.sheet, "multigrid", "converged"),
    ],
)
def test_nor_without_contact_from_the_second_step_on(make, linear, effort, iterations):
    """The pattern is that of the model, for good: not the first iteration of a step either. The end
    of the linear solve is read, what an interactive step asks of the direction, and the energy of
    each term for each trial of the line search; and an iteration makes its solution and little
    else.
    """
    settings = weft.StepSettings(linear=linear, effort=effort)
    stepped(laid(make, linear, 9, contact=False).with_(settings=settings), iterations)
    assert len(iterations) >= 2
    for one in iterations:
        assert one.traffic.scalars <= most_reads(one, TERMS, 2), one
        assert one.traffic.uploads == one.traffic.downloads == 0, one
        assert one.traffic.allocations <= (4 if linear == "pcg" else np.inf), one


def test_a_step_uploads_each_array_once():
    """In the second step, that is, and in all that follow."""
    scene = laid(weft.sheet, "pcg", 9, contact=False)
    (begin,) = steps(scene, 1, 0.02)
    with kernel.count_traffic() as traffic:
        list(steps(scene, 1, 0.02, begin=begin[:2]))
    assert traffic.uploads <= WITHOUT_CONTACT, traffic
    assert traffic.downloads <= 2, traffic  # the end, and the energies of elements for the report


@pytest.mark.parametrize("make", [weft.sheet, weft.spline_sheet])
def test_a_step_with_contact_uploads_pins_and_bodies_once(make, iterations, monkeypatch):
    """Bodies that move and push the cloth ahead, pins and friction: what a step without contact
    uploads; bodies at the end of the step; all vertices at its start, and their displacements, once
    for each round in which cloth is carried along; and the slip that friction remembers. Iterations
    upload nothing, except those in which splines get a matrix on a new pattern.
    """
    motion = weft.Path([weft.Keyframe(0.0), weft.Keyframe(0.2, (0.02, 0.05, 0.0))], "linear")
    scene, rounds, meeting = laid(make, "pcg", 9, motion=motion), [], ContactDetector.blocking_pairs

    def counted(self, *way):
        rounds.append(way)
        return meeting(self, *way)

    monkeypatch.setattr(ContactDetector, "blocking_pairs", counted)
    (begin,) = steps(scene, 1, 0.02)  # which makes what stays
    for _ in range(3):
        iterations.clear()
        rounds.clear()
        with kernel.count_traffic() as traffic:
            (begin,) = steps(scene, 1, 0.02, begin=begin[:2])
        assert begin[2].contact["count"] > 10
        assert traffic.uploads <= WITHOUT_CONTACT + 4 + len(rounds), (traffic, len(rounds))
        some = (one for one in iterations if one.same or make is weft.sheet)
        assert not any(one.traffic.uploads for one in some)


def test_traffic_is_seen():
    """What is counted: each array made, taken there or brought back, and numbers that are read."""
    with kernel.count_traffic() as traffic:
        a = kernel.array([1.0, 2.0], kernel.Scalar)
        kernel.zeros(3)
        kernel.numpy(a)
        assert kernel.total(a) == 3.0 and kernel.scalar(a, 1) == 2.0
    assert (traffic.uploads, traffic.downloads) == (1, 1)
    assert (traffic.allocations, traffic.scalars) == (1, 2)
