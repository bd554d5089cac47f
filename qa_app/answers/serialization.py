"""Serialize policies, drafts and evidence to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, TypeVar

import cattrs

from corpus_app.records import Sentence

T = TypeVar("T")


class NotReadable(ValueError):
    """The stored value belongs to another release."""


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True, unstruct_collection_overrides={Set: sorted})
    # A sentence's vector is needed to rank, not to write, and it is what takes the room.
    converter.register_unstructure_hook(Sentence, lambda sentence: {"start": sentence.start, "end": sentence.end})
    converter.register_structure_hook(Sentence, lambda row, _: Sentence(row["start"], row["end"]))
    return converter


_CONVERTER = _converter()


def freeze(value: Any) -> Any:
    """Convert a value to JSON types."""
    return _CONVERTER.unstructure(value)


def thaw(kind: type[T], stored: Mapping[str, Any]) -> T:
    """Convert JSON types back to a value of this type. Raises NotReadable."""
    try:
        return _CONVERTER.structure(stored, kind)
    except (cattrs.BaseValidationError, ValueError, TypeError, KeyError) as error:
        raise NotReadable(f"What was kept is no {kind.__name__} of this release.") from error
