"""Quantities with units, converted to SI: ``"120 g/m^2"`` is 0.12 kg/m^2.

A quantity is a number and a unit expression (``base.units.grammar``). Dimensions are checked,
including angles, so that a bending stiffness cannot be given in N/m, nor a stretch per degree.
``gf*cm^2/cm`` and ``gf/(cm*deg)``, the units of Kawabata's testers, are ordinary expressions.

Read ``table`` (the units), ``grammar`` (unit expressions), ``quantity`` (a number with its unit),
then ``expression`` (arithmetic with named numbers).
"""

from weft.base.units.grammar import parse_unit
from weft.base.units.quantity import Quantity, in_si, max_magnitude, to_si
from weft.base.units.table import Dimension

__all__ = ["Dimension", "Quantity", "in_si", "max_magnitude", "parse_unit", "to_si"]
