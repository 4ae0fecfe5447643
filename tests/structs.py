"""Structs of kernels from NumPy arrays."""

import numpy as np
import warp as wp


def struct_of(kind, **values):
    """A Warp struct; NumPy arrays, which it shares, become arrays on the CPU of the type that the
    field has. Fields that are not named are zeros, or arrays of length 0.
    """
    out = kind()
    for name, field in kind.vars.items():
        is_array = isinstance(field.type, wp.array)
        value = values.pop(name, None)
        if value is None and is_array:
            shape = (0,) * field.type.ndim
            value = wp.empty(shape, dtype=field.type.dtype, device="cpu")
        elif isinstance(value, np.ndarray):
            assert value.flags.c_contiguous, name
            value = wp.array(
                value, dtype=field.type.dtype, ndim=field.type.ndim, device="cpu", copy=False
            )
        if value is not None:
            setattr(out, name, value)
    assert not values, f"no fields: {list(values)}"
    return out
