"""The drape or the grasp in Newton: VBD or Style3D, in substeps and iterations of its examples.

Stretch, shear (Style3D) and bending are linen's; VBD's law is isotropic.
"""

import newton
import warp as wp
from exchange import read
from newton.solvers import style3d

d = read()
is_vbd = d.options["solver"] == "vbd"
wp.set_device("cpu")


@wp.kernel
def lift(q: wp.array(dtype=wp.vec3), held: wp.array(dtype=wp.int32), way: float):
    """Move grasped particles up."""
    k = held[wp.tid()]
    q[k] = q[k] + wp.vec3(0.0, way, 0.0)


def built() -> newton.Model:
    """The model."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y)
    place = {
        "pos": wp.vec3(0.0, 0.0, 0.0),
        "rot": wp.quat_identity(),
        "vel": wp.vec3(0.0, 0.0, 0.0),
    }
    sheet = {
        "vertices": [wp.vec3(*v) for v in d.cloth],
        "indices": d.faces.ravel().tolist(),
        "density": d.density,
        "scale": 1.0,
        "particle_radius": d.gap,
    }
    if is_vbd:
        builder.add_cloth_mesh(
            **place,
            **sheet,
            tri_ke=d.stretch / 2,
            tri_ka=0.0,
            tri_kd=d.damping,
            edge_ke=d.bending,
            edge_kd=d.damping,
        )
    else:
        newton.solvers.SolverStyle3D.register_custom_attributes(builder)
        style3d.add_cloth_mesh(
            builder,
            **place,
            **sheet,
            panel_verts=d.cloth_uv.tolist(),
            panel_indices=d.faces.ravel().tolist(),
            tri_aniso_ke=wp.vec3(d.stretch, d.stretch, d.shear),
            edge_aniso_ke=wp.vec3(d.bending, d.bending, d.bending),
        )
    rubs = newton.ModelBuilder.ShapeConfig(mu=d.friction)
    if d.radius:
        builder.add_shape_sphere(
            body=-1, xform=wp.transform(wp.vec3(0.0, d.height, 0.0)), radius=d.radius, cfg=rubs
        )
    for k in d.held.tolist():
        builder.particle_mass[k] = 0.0
        builder.particle_flags[k] &= ~int(newton.ParticleFlags.ACTIVE)
    builder.add_ground_plane(cfg=rubs)
    if is_vbd:
        builder.color()
    model = builder.finalize()
    model.soft_contact_ke, model.soft_contact_kd = d.options["contact"]
    model.soft_contact_mu = d.friction
    return model


def simulated(model: newton.Model, frames: int, note: bool) -> None:
    """Frames from the start."""
    if is_vbd:
        solver = newton.solvers.SolverVBD(
            model,
            iterations=d.options["iterations"],
            particle_enable_self_contact=True,
            particle_self_contact_margin=d.gap,
            particle_self_contact_gap=0.75 * d.gap,
            particle_vertex_contact_buffer_size=64,
            particle_edge_contact_buffer_size=128,
        )
    else:
        config = newton.solvers.SolverStyle3D.Config(iterations=d.options["iterations"])
        solver = newton.solvers.SolverStyle3D(model, config=config)
        solver.collision.radius = d.gap / 2
    now, after, control = model.state(), model.state(), model.control()
    pipeline = newton.CollisionPipeline(model)
    contacts, substeps = pipeline.contacts(), d.options["substeps"]
    dt = 1 / (d.fps * substeps)
    held = wp.array(d.held, dtype=wp.int32)
    for frame in range(frames):
        with d:
            for k in range(substeps):
                pipeline.collide(now, contacts)
                if is_vbd and k % 10 == 0:  # it is refitted in between
                    solver.rebuild_bvh(now)
                if len(d.held):
                    way = d.way((frame * substeps + k + 1) * dt) - d.way(
                        (frame * substeps + k) * dt
                    )
                    wp.launch(lift, len(held), [now.particle_q, held, way])
                now.clear_forces()
                solver.step(now, after, control, contacts, dt)
                now, after = after, now
        if note:
            d.frame(now.particle_q.numpy())


model = built()
simulated(model, 1, False)  # compiles the kernels
d.cpu = d.wall = 0.0
simulated(model, d.n_frames, True)
d.write(newton.__version__, d.options["substeps"] * d.n_frames)
