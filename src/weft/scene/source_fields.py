"""Fields of blocks of which one says what a thing is made from: a cloth, a body."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from weft.base.schema.block import Block, file_type
from weft.base.settings import Setting
from weft.scene.body_source import BodySource
from weft.scene.cloth_source import ClothSource


def fields_of_sources(sources: Mapping[str, Any]) -> Any:
    """Return a field for each source by name, none of which is required, for ``create_model``."""

    def field_of(source: BodySource | ClothSource) -> Any:
        about = Setting(constant=source.constant)
        return Annotated[file_type(source.block) | None, about], Field(
            None, description=source.meaning
        )

    return {name: field_of(source) for name, source in sources.items()}


def chosen_source(block: Block, sources: Mapping[str, Any]) -> str:
    """Return the name of the source that a block has.

    Raises:
        ValueError: none or several.
    """
    chosen = [name for name in sources if getattr(block, name) is not None]
    if len(chosen) != 1:
        *first, last = sources
        raise ValueError(f"give one of {', '.join(first)} and {last}")
    return chosen[0]
