"""Slicing: 1, 2, 3 and 4 slices give bitwise the same result; one thread needs no other."""

import numpy as np
import pytest
import warp as wp

from tests.checks import still
from tests.refusals import refused
from weft import kernel
from weft.base.errors import DeviceError
from weft.cloth.create import sheet
from weft.kernel import Scalar, vec3
from weft.kernel.cpu import launching
from weft.kernel.cpu import warp_private as entry
from weft.laws import Psd
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

_module = wp.get_module("weft.test_kernel")


@wp.kernel(module=_module)
def smear(o: int, a: wp.array(dtype=Scalar), out: wp.array(dtype=Scalar)):
    i = o + wp.tid()
    n = a.shape[0]
    out[i] = wp.sin(a[i]) + a[(i + 1) % n] * a[(i + 7) % n]


@pytest.mark.parametrize("n", [0, 1, 3, 100_003])
def test_slices_are_bitwise_equal(n, threads, rng):
    a = kernel.array(rng.normal(size=max(n, 1)), Scalar)
    results = []
    for count in (1, 2, 3, 4):
        threads(count)
        out = kernel.zeros(max(n, 1))
        kernel.launch(smear, n, a, out, work=kernel.HEAVY)
        recorded = kernel.zeros(max(n, 1))
        if n:
            kernel.Recorded(smear, n, a, recorded, work=kernel.HEAVY).launch()
            np.testing.assert_array_equal(kernel.numpy(out), kernel.numpy(recorded))
        results.append(np.array(kernel.numpy(out)))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_a_whole_assembly_is_bitwise_equal(threads, monkeypatch):
    """Energy, gradient and Hessian of a model on one thread and on three."""
    cloth = sheet(20, 20, pattern="random")
    x = np.array(cloth.vertices) + 0.01 * np.random.default_rng(0).normal(size=cloth.vertices.shape)
    original = launching.launch_each

    def sliced(n, *stages, work=0.0, begin=0):
        original(n, *stages, work=kernel.HEAVY, begin=begin)

    monkeypatch.setattr(launching, "launch_each", sliced)
    results = []
    for count in (1, 3):
        threads(count)
        system = prepare(Scene(cloth)).model.assembly
        device, g = kernel.array(x, vec3), kernel.zeros(len(x), vec3)
        system.freeze(still(cloth.vertices, dt=0.01, span=0.01))
        system.add_gradient(device, g)
        A = system.hessian(device, Psd.PROJECTED)
        results.append(
            (system.value(device), kernel.numpy(g).copy(), kernel.numpy(A.values).copy())
        )
    for one, other in zip(*results):
        np.testing.assert_array_equal(one, other)


def test_changed_argument_of_a_recorded_launch(threads):
    threads(2)
    a, b, out = kernel.array(np.ones(64), Scalar), kernel.zeros(64), kernel.zeros(64)
    recorded = kernel.Recorded(smear, 64, a, out, work=kernel.HEAVY)
    recorded.set(0, b)
    recorded.launch()
    np.testing.assert_array_equal(kernel.numpy(out), 0)


def test_memory_that_a_device_does_not_have_is_named(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("Failed to allocate 51539607504 bytes on device 'cpu'")

    monkeypatch.setattr("warp.empty", refuse)
    with refused(DeviceError, "memory", got="48 GiB"):
        kernel.empty(2**31 - 2, vec3)


def test_scratch_is_shared_and_grows():
    scratch = kernel.Scratch()
    small = scratch.take(3, vec3)
    kernel.numpy(small)[...] = 1.0
    assert scratch.take(3, vec3) is small
    large = scratch.take(100, vec3)
    assert large.shape == (100,) and scratch.take(3, vec3).ptr == large.ptr


@pytest.mark.parametrize("count", [0, 100_000, 2.5, True, "4"])
def test_thread_counts_of_no_sense(count):
    with refused(DeviceError, "threads"):
        kernel.configure(threads=count)
    with refused(DeviceError, "threads"), kernel.use(threads=count):
        pass


@pytest.mark.parametrize("device", ["cuda:77", "tpu"])
def test_devices_that_are_not_there(device):
    with refused(DeviceError, "device"):
        kernel.configure(device=device)


@wp.struct
class Mixed:
    small: wp.int32
    large: Scalar
    many: wp.array(dtype=vec3)


@wp.kernel(module=_module)
def of_all_kinds(
    o: int,
    k: wp.int32,
    wide: wp.int64,
    half: wp.float32,
    mixed: Mixed,
    flag: wp.bool,
    v: vec3,
    last: wp.uint32,
    out: wp.array2d(dtype=Scalar),
):
    i = o + wp.tid()
    out[i, 0] = Scalar(k) + Scalar(wide) + Scalar(half) + Scalar(mixed.small) + mixed.large
    out[i, 1] = mixed.many[i][1] + v[0] + v[2] + Scalar(last)
    out[i, 2] = wp.where(flag, Scalar(1.0), Scalar(-1.0))


def test_arguments_of_all_kinds_are_packed_as_warp_does():
    """Bytes between fields of different sizes, structures, and values that change. Integers of 64
    bits whose values have 32 were written as such, and what followed was read in the wrong place.
    """
    m = Mixed()
    m.many = kernel.array(np.arange(12.0).reshape(4, 3), vec3)
    for turn in range(3):
        m.small, m.large = 7 + turn, 0.25 * turn
        args = (3, (2**40, 5, -1)[turn], 0.5, m, turn != 1, vec3(1.0, 2.0, 3.0 + turn))
        out, other = kernel.zeros((4, 3)), kernel.zeros((4, 3))
        last = np.uint32(2**31 + 5)
        kernel.launch(of_all_kinds, 4, *args, last, out)
        wp.launch(of_all_kinds, 4, inputs=[0, *args, last, other], device="cpu")
        assert np.array_equal(out.numpy(), other.numpy())
        assert out.numpy()[2, 2] == (-1.0 if turn == 1 else 1.0)
    assert entry._entries[id(of_all_kinds)][1] is not None


@wp.kernel(module=_module)
def scaled(o: int, s: Scalar, a: wp.array(dtype=Scalar), out: wp.array(dtype=Scalar)):
    i = o + wp.tid()
    out[i] = s * a[i]


def test_numbers_of_other_types_and_arguments_that_do_not_fit():
    """Warp takes NumPy arrays too."""
    a, out = np.arange(3.0), kernel.zeros(3)
    x, numpy = kernel.array(a, Scalar), np.zeros(3)
    for factor in (2, np.float32(0.5), Scalar(0.5), True):
        for source, target in ((x, out), (a, numpy)):
            kernel.launch(scaled, 3, factor, source, target)
        expected = float(getattr(factor, "value", factor)) * a
        assert np.array_equal(out.numpy(), expected) and np.array_equal(numpy, expected)
    single = kernel.array(np.arange(3, dtype=np.float32), wp.float32)
    for wrong in [(1.0, single, out), (1.0, x), (1.0, x, out, out), (x, x, out)]:
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            kernel.launch(scaled, 3, *wrong)
    assert entry._entries[id(scaled)][1] is not None


def test_views_are_the_arrays_numbers(rng):
    values = rng.normal(size=(6, 3))
    a = kernel.array(values, vec3)
    view = kernel.view(a)
    assert np.array_equal(view, values)
    assert kernel.view(a) is view
    view[2] = 5.0
    assert (a.numpy()[2] == 5.0).all()
    whole = kernel.array(values, Scalar)
    assert np.array_equal(kernel.view(whole[:, 1]), values[:, 1])  # of no block of memory
    assert kernel.view(kernel.empty((0, 4), wp.int32)).shape == (0, 4)


def test_copies_and_sorts_of_beginnings():
    x, out = kernel.array(np.ones((3, 3)), vec3), kernel.zeros(5, vec3)
    kernel.copy(x, out)
    assert out.numpy()[:, 0].tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]
    keys = kernel.array(np.array([5, 2**40, -1, 3, 0]), wp.int64)
    kernel.sort(keys, 3)
    assert keys.numpy().tolist() == [-1, 5, 2**40, 3, 0]
