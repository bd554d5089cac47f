"""Parsing of query parameters; unknown ones are refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.serializers import Serializer

OF_LISTS = ("cursor", "limit")
FIELDS = "fields"


def refuse_unknown(request: Request, known: Iterable[str], *, always: Iterable[str] = (FIELDS,)) -> None:
    """Raise ValidationError naming each parameter that the resource does not have."""
    names = sorted({*known, *always})
    unknown = [name for name in request.query_params if name not in names]
    if unknown:
        raise ValidationError(
            {_printable(name): [ErrorDetail(_advice(names), "unknown_parameter")] for name in unknown[:20]}
        )


def _advice(names: list[str]) -> str:
    return (
        f"Leave it out; the parameters are {', '.join(names)}." if names else "Leave it out; there are no parameters."
    )


def refuse(name: str, detail: str) -> ValidationError:
    return ValidationError({name: [ErrorDetail(detail, "unknown")]})


def chosen_fields(request: Request, shape: type[Serializer[object]]) -> frozenset[str] | None:
    """Return the fields that `fields=` names; None means all. Raises ValidationError for an unknown field."""
    given = request.query_params.get(FIELDS)
    if given is None:
        return None
    known = list(shape().fields)
    wanted = [name.strip() for name in given.split(",") if name.strip()]
    if not wanted or any(name not in known for name in wanted):
        raise refuse(FIELDS, f"Name fields among {', '.join(known)}, with commas between.")
    return frozenset(wanted)


def one_of(request: Request, name: str, known: Collection[str]) -> str | None:
    """Return the parameter's value; None if it is absent. Raises ValidationError for an unknown value."""
    value = request.query_params.get(name)
    if value is not None and value not in known:
        raise refuse(
            name, f"Choose one of {', '.join(sorted(known))}." if known else "There is nothing to choose from."
        )
    return value


def whole_number(request: Request, name: str, *, default: int, least: int, most: int) -> int:
    """Return the parameter as an integer. Raises ValidationError when it is none, or out of bounds."""
    value = request.query_params.get(name, str(default))
    if not (value.isascii() and value.isdecimal() and len(value) <= 12 and least <= int(value) <= most):
        raise refuse(name, f"Send a whole number from {least} to {most}.")
    return int(value)


def _printable(name: str) -> str:
    return name[:100].replace("\0", "\\0")
