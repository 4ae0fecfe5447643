"""Membrane laws: psi(F), one per file. No mesh, no loop over elements."""
