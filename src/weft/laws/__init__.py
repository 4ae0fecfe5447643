"""Membrane laws: psi(F), one per file. No mesh, no loop over elements."""

from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.base import Law, Psd
from weft.laws.shear import AngleShear, DotShear

__all__ = ["AngleShear", "BaraffWitkin", "DotShear", "Law", "Psd"]
