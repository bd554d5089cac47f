"""The base of the curators' API views: permissions, bodies, and curation errors as HTTP problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import DataError, IntegrityError
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from common.desk_api import DeskAPIView, NotPossible, Stale, person
from corpus_app import curation
from corpus_app.api.desk.bodies import Body
from corpus_app.curation import acts
from corpus_app.models import Study

CLASH = (
    "Somebody else saved something at the same moment that stands in its way. "
    "Nothing was saved: look again, then repeat."
)
OUT_OF_BOUNDS = "It holds something that no row can hold, such as a number that is too large. Nothing was saved."


class Conflict(exceptions.APIException):
    status_code = HTTPStatus.CONFLICT
    default_code = "conflict"


class NotPermitted(exceptions.PermissionDenied):
    default_code = "not_permitted"


class DeskView(DeskAPIView):
    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(_as_problem(exc))


def require_permissions(request: Request, *permissions: str) -> None:
    """Raise NotPermitted when the key's owner lacks one of these permissions."""
    for permission in permissions:
        if not person(request).has_perm(permission):
            raise NotPermitted(f"This takes the permission {permission}, which the owner of this key does not have.")


def read_body(shape: type[Body], request: Request, *, partial: bool = False) -> dict[str, Any]:
    """Return the validated body. Raises ValidationError by field."""
    body = shape(data=request.data, partial=partial)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)


# HTTP errors by the exception of the service layer; the first match counts.
_PROBLEMS: Mapping[type[Exception], Callable[[Any], Exception]] = {
    curation.UnknownStudy: lambda error: exceptions.NotFound("There is no study with this id."),
    curation.EditConflict: lambda error: _stale(error),
    curation.ReasonMissing: lambda error: exceptions.ValidationError(
        {"reason": [exceptions.ErrorDetail(str(error), "required")]}
    ),
    curation.NotAllowed: lambda error: NotPermitted(str(error)),
    curation.BrokenText: lambda error: NotPossible(str(error), [_fault(new) for new in error.faults]),
    acts.NotReady: lambda error: Conflict("This has gone on in the meantime: read it again."),
    curation.CurationError: lambda error: NotPossible(str(error)),
    DjangoValidationError: lambda error: exceptions.ValidationError(_by_field(error)),
    IntegrityError: lambda error: Conflict(CLASH),
    DataError: lambda error: exceptions.ValidationError([OUT_OF_BOUNDS]),
}  # fmt: skip


def _as_problem(error: Exception) -> Exception:
    for kind, problem in _PROBLEMS.items():
        if isinstance(error, kind):
            return problem(error)
    return error


def _stale(error: curation.EditConflict) -> Exception:
    version = Study.objects.filter(study_id=error.name).values_list("version", flat=True).first()
    return Stale(version) if version else Conflict(str(error))


def _fault(new: curation.NewFault) -> dict[str, str]:
    return {"field": f"passages.{new.number - 1}.text", "code": new.fault.kind.value, "detail": str(new)}


# API names of columns that have another name in the database.
NAMES = {
    "n_studies": "included_studies",
    "n_participants": "participants",
    "duration_weeks_min": "weeks.shortest",
    "duration_weeks_max": "weeks.longest",
    NON_FIELD_ERRORS: "non_field_errors",
}


def _by_field(error: DjangoValidationError) -> Any:
    if not hasattr(error, "error_dict"):
        return error.messages
    return {NAMES.get(name, name): messages for name, messages in error.message_dict.items()}
