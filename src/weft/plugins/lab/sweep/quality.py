"""Quality filters of samples: bounds on the measures of a finished run."""

from dataclasses import dataclass

from weft.base.settings import documented, setting, settings_by_field
from weft.base.trees import Json


@documented
@dataclass(frozen=True)
class Filters:
    """Bounds on a sample's measures; a filter that is None is not applied."""

    converged: bool | None = setting(None, "true: every step converged without division")
    static: float | None = setting(
        None, "largest speed of a point at the end: 5 cm/s", "m/s", least=0
    )
    intersections: int | None = setting(
        None, "largest number of intersecting pairs of faces in any frame: 0", least=0
    )
    strain: float | None = setting(
        None, "greatest principal strain at the end: 10 % is 0.1", "1", least=0
    )
    slipped_off: bool | None = setting(
        None, "false: the cloth still reaches above the highest body"
    )

    def flags(self, measures: Json) -> dict[str, bool]:
        """Return the result of each filter that is set, by its name, and ``good``: all are passed.

        A filter is passed if the scene does not have its measure (for example no body).
        """
        bounds = {
            "static": ("speed_end", self.static),
            "intersections": ("intersections", self.intersections),
            "strain": ("strain_end", self.strain),
        }
        passed = {}
        for name, (measure, most) in bounds.items():
            if most is not None:
                value = measures.get(measure)
                passed[name] = value is None or value <= most
        for name in ("converged", "slipped_off"):
            wanted = getattr(self, name)
            if wanted is not None:
                passed[name] = measures.get(name) in (None, wanted)
        return {**passed, "good": all(passed.values())}

    def as_dict(self) -> Json:
        """Return the filters that are set."""
        return {name: value for name, value in vars(self).items() if value is not None}


MEANINGS = {name: about.meaning for name, about in settings_by_field(Filters).items()}
