"""The potential of one step as a plain function: its terms, and the gradient at the minimum."""

import numpy as np

import weft

cloth = weft.sheet(9, 9, fabric="silk")
scene = weft.Scene(
    cloth, [weft.Pin(cloth.border("top"))], settings=weft.StepSettings(tolerance=1e-8)
)
simulation = weft.prepare(scene)
model, integrator, state = simulation.model, simulation.stepper, simulation.state
memory = integrator.init(model, state)
phi = integrator.potential(model, state, memory, dt=0.02)
after, memory, report = integrator.step(model, state, memory, dt=0.02)
for name, joule in phi.terms(after.x).items():
    print(f"{name:18} {joule: .3e} J")
weight = 9.81 * cloth.mass.sum()
print(f"largest residual over the weight: {np.abs(phi.gradient(after.x)).max() / weight:.0e}")
