"""The part of CSL-JSON that files of sources use, as a closed JSON schema."""

from typing import Any

NAME: dict[str, Any] = {
    "type": "object", "additionalProperties": False, "minProperties": 1,
    "properties": {name: {"type": "string"} for name in ("family", "given", "literal")},
}  # fmt: skip
DATE: dict[str, Any] = {
    "type": "object", "required": ["date-parts"], "additionalProperties": False,
    "properties": {"date-parts": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}},
}  # fmt: skip
CSL: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "type", "title"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": "string", "minLength": 1},
            "type": {"enum": ["article", "article-journal", "thesis"]},
            "title": {"type": "string", "minLength": 1},
            "author": {"type": "array", "items": NAME},
            "issued": DATE,
            **{name: {"type": "string", "minLength": 1} for name in ("container-title", "DOI", "PMID", "URL", "note")},
        },
    },
}
