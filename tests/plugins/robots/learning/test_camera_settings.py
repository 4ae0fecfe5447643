"""Cameras of environments from single fields."""

import pytest

from weft.plugins.robots.learning.camera_settings import CameraSettings, read_camera

pytestmark = pytest.mark.quick


def test_a_field_leaves_the_others_as_they_are():
    whole, found = CameraSettings().sensor(), read_camera(["camera.width=64"])
    assert found.width == 64
    assert found.camera.tan_half == pytest.approx(whole.camera.tan_half)


def test_an_angle_has_a_unit():
    one, other = (read_camera([f"camera.field_of_view={t}"]) for t in ("40 deg", "0.698132 rad"))
    assert one.camera.tan_half == pytest.approx(other.camera.tan_half, rel=1e-5)
