"""Readers of exported files."""

import numpy as np
import pytest


def valid_stage(path):
    """A stage of USD that is clean under all validators."""
    pytest.importorskip("pxr.UsdValidation")
    from pxr import Usd, UsdValidation

    stage = Usd.Stage.Open(str(path))
    registry = UsdValidation.ValidationRegistry()
    everything = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    assert [e.GetMessage() for e in everything.Validate(stage)] == []
    return stage


def view_of(tree, blob, number, kind=np.uint8):
    """The numbers in a part of the buffer of a .glb."""
    view = tree["bufferViews"][number]
    begin = view.get("byteOffset", 0)
    return np.frombuffer(blob[begin : begin + view["byteLength"]], kind)


def values_of(tree, blob, accessor, kind):
    """The numbers of an accessor of a .glb."""
    return view_of(tree, blob, tree["accessors"][accessor]["bufferView"], kind)
