"""Policies, drafts and evidence as they are kept, and back again as the values that they were."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, TypeVar

import cattrs

from corpus_app.records import Sentence

T = TypeVar("T")


class NotReadable(ValueError):
    """What was kept belongs to another release."""


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True, unstruct_collection_overrides={Set: sorted})
    # A sentence's vector is needed to rank, not to write, and it is what takes the room.
    converter.register_unstructure_hook(Sentence, lambda sentence: {"start": sentence.start, "end": sentence.end})
    converter.register_structure_hook(Sentence, lambda kept, _: Sentence(kept["start"], kept["end"]))
    return converter


_CONVERTER = _converter()


def freeze(value: Any) -> Any:
    """A frozen value as JSON can hold it."""
    return _CONVERTER.unstructure(value)


def thaw(kind: type[T], kept: Mapping[str, Any]) -> T:
    """A value of this kind as it was. Raises NotReadable."""
    try:
        return _CONVERTER.structure(kept, kind)
    except (cattrs.BaseValidationError, ValueError, TypeError, KeyError) as error:
        raise NotReadable(f"What was kept is no {kind.__name__} of this release.") from error
