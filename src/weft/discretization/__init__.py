"""Where a law is sampled: stencils, shape function gradients and weights."""
