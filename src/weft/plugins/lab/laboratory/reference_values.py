"""Published drape coefficients of fabrics, to compare with simulated ones."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A published drape coefficient, or a range."""

    low: float  # 0 to 1
    high: float
    source: str
    nodes: int | None = None  # number of folds, if they were counted

    @property
    def measured(self) -> bool:
        """Return whether it was measured on this very cloth; else it is the usual range of its
        kind.
        """
        return self.low == self.high

    @property
    def text(self) -> str:
        """The coefficient or range in percent."""
        if self.measured:
            return f"{100 * self.low:.1f} %"
        return f"{100 * self.low:.0f} to {100 * self.high:.0f} %"

    def misses(self, coefficient: float) -> float:
        """Return how far a coefficient is outside the range: 0 inside, negative below."""
        return min(coefficient - self.low, 0.0) + max(coefficient - self.high, 0.0)


_MATSUDAIRA = (
    "measured on this fabric: Matsudaira, Masuda, Wada & Yokura 2015, J. Textile Eng. 61(6) 69-73, "
    "doi 10.4188/jte.61.69, Table 2, taken from a transcription"
)
_KIND = "usual range of similar fabrics, without a single source; not measured on this fabric"

# By preset. A single number was measured on the very cloth whose rigidity and density the preset
# has.
DRAPE_COEFFICIENTS: Mapping[str, Published] = {
    "broadcloth": Published(0.829, 0.829, _MATSUDAIRA, 2),
    "wool-tropical": Published(0.498, 0.498, _MATSUDAIRA, 5),
    "poly-tropical": Published(0.507, 0.507, _MATSUDAIRA, 5),
    "faille": Published(0.283, 0.283, _MATSUDAIRA, 7),
    "silk": Published(0.20, 0.40, _KIND),
    "cotton": Published(0.60, 0.76, _KIND),
    "wool": Published(0.40, 0.70, _KIND),
    "denim": Published(0.70, 0.90, _KIND),
}
