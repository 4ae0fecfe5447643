"""``weft settle``: the equilibrium of a scene."""

import dataclasses
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.base.trees import Json
from weft.cli.options import (
    Device,
    Out,
    Resume,
    SceneFile,
    Set,
    Threads,
    configure,
    say,
    tell_compiling,
)


def settle(
    scene: SceneFile,
    out: Out = None,
    load_steps: Annotated[
        int, typer.Option(help="Number of parts into which the motion of pins is divided.", min=1)
    ] = 1,
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Largest number of Newton iterations per load step.",
            min=1,
            show_default="the scene's",
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="Largest length of the last Newton increment, in meters.",
            min=1e-12,
            show_default="the scene's",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the bumps that let flat cloth buckle.", show_default="the scene's"
        ),
    ] = None,
    resume: Resume = False,
    from_frame: Annotated[
        int | None,
        typer.Option(
            "--from",
            help=(
                "Begin at frame K of the run in --out (garments that `weft run` has sewn), "
                "and continue to the end of the scene, with one load step per frame."
            ),
            metavar="K",
        ),
    ] = None,
    set_: Set = None,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Find the equilibrium of a scene, with the pins at their places at the end of the scene.

    Writes a run with one frame per load step. Exit status 1 if the search did not converge within
    the iterations; the message then names the file with its last state, `reached`.
    """
    configure(device, threads)
    from weft.base.errors import SceneError, SimulationError
    from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
    from weft.run.simulate import simulate
    from weft.scene.build import load_scene
    from weft.scene.prepare import prepare

    loaded = load_scene(scene, [*(set_ or []), "adaptive=null"], integrator="quasi_static")
    settings = loaded.scene.settings
    if not isinstance(settings, QuasiStaticSettings):
        raise SceneError(
            "--set integrator",
            got=loaded.scene.integrator,
            expected="no integrator, because `weft settle` uses quasi_static",
        )
    said: Json = {"max_iterations": iterations, "tolerance": tolerance, "seed": seed}
    settings = dataclasses.replace(settings, **{k: v for k, v in said.items() if v is not None})
    last, fps = load_steps, load_steps / loaded.seconds
    if from_frame is not None:
        last, fps = loaded.frames, loaded.fps
        if load_steps != 1 or last <= from_frame:
            raise SceneError(
                "--from",
                got=f"{from_frame}, load steps {load_steps}, and {last} frames",
                expected="a frame before the last frame of the scene, and no --load-steps, "
                "because each frame is one load step",
            )
    quiet = loaded.scene.with_(settings=settings, step=1.0 / fps)
    stepper = prepare(quiet).stepper
    assert isinstance(stepper, QuasiStatic)
    stepper.watch = _IterationLine()
    folder = out or Path("runs") / f"{scene.stem}-settled"
    tell_compiling()
    clock = time.perf_counter()
    try:
        run = simulate(
            quiet,
            frames=last,
            fps=fps,
            out=folder,
            resume=resume,
            from_frame=from_frame,
            progress=False,
        )
    except SimulationError as error:
        say(f"not settled: {error}", error=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        say(f"stopped; continue with: weft settle {scene} --out {folder} --resume", error=True)
        raise typer.Exit(130) from None
    lines = [m for m in run.metrics if m["frame"] > (from_frame or 0)]
    energy = sum(lines[-1]["energies"].values())
    iterated, seconds = sum(m["iterations"] for m in lines), time.perf_counter() - clock
    say(f"settled  {iterated} Newton iterations, {seconds:.1f} s, energy {energy:.6g} J")
    say(f"run      {folder}  (frame {last})")
    say(f"next     weft render {folder} {scene.stem}.png   weft export {folder} {scene.stem}.obj")


class _IterationLine:
    """Shows the iterations of an integrator on a line of the terminal."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, iterate: Any, x: Any) -> None:
        self._count += 1
        if self._count % 10 == 1:
            say(
                f"  iteration {self._count}: energy {iterate.energy:.6g} J, force "
                f"{iterate.force:.1e}, moved {iterate.increment:.1e} m",
                error=True,
            )
