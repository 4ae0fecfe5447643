"""Membrane laws: psi(F), one per file. No mesh, no loop over elements."""

from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.base import Law, Psd

__all__ = ["BaraffWitkin", "Law", "Psd"]
