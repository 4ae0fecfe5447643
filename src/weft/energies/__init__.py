"""Energies E(x): stencils of vertices, with local value, gradient and Hessian."""
