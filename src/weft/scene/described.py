"""A scene in two lines, for people at a prompt."""

from typing import Any


def described(scene: Any) -> str:
    """What is simulated, and how: sizes and units, no more than two lines."""
    cloth = scene.cloth
    fabrics = ", ".join(dict.fromkeys(p.fabric.name for p in cloth.parts))
    pinned = len({int(v) for pin in scene.pins for v in pin.vertices})
    parts = [
        f"{cloth.n_vertices} vertices of {fabrics} ({cloth.mass.sum():.4g} kg)",
        f"{pinned} pinned",
        *([f"{len(scene.bodies)} bodies"] if scene.bodies else []),
        "contact" if scene.contact is not None else "no contact",
    ]
    damping = cloth.fabric.damping if scene.damping is None else scene.damping
    how = [
        scene.integrator,
        f"steps of {scene.step:g} s",
        f"gravity ({', '.join(f'{g:g}' for g in scene.gravity)}) m/s^2",
        f"damping {damping:g} s",
        *(["adaptive"] if scene.adaptive is not None else []),
    ]
    return f"Scene: {', '.join(parts)}\n  {', '.join(how)}"
