"""The base of the desk's API views: the acting user, and curation errors as HTTP problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar, cast

from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import DataError, IntegrityError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from corpus_app import curation
from corpus_app.api import parameters
from corpus_app.api.desk.bodies import Body
from corpus_app.api.resources import GenericAPIView
from corpus_app.api.shapes import Shape
from corpus_app.curation import acts
from corpus_app.models import Study

TAG = ["Desk"]
CLASH = (
    "Somebody else saved something at the same moment that stands in its way. "
    "Nothing was saved: look again, then repeat."
)
OUT_OF_BOUNDS = "It holds something that no row can hold, such as a number that is too large. Nothing was saved."


class Stale(exceptions.APIException):
    status_code = HTTPStatus.PRECONDITION_FAILED
    default_code = "stale"

    def __init__(self, version: object) -> None:
        super().__init__(f"It is at version {version} now. Read it again, then make your change.")
        self.present_version = str(version)


class Conflict(exceptions.APIException):
    status_code = HTTPStatus.CONFLICT
    default_code = "conflict"


class NotPossible(exceptions.APIException):
    """A refusal by the service layer; `errors` lists the reasons by field."""

    status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    default_code = "not_possible"

    def __init__(self, detail: str, errors: list[dict[str, str]] | None = None) -> None:
        super().__init__(detail)
        self.errors = errors


class NotPermitted(exceptions.PermissionDenied):
    default_code = "not_permitted"


class DeskView(GenericAPIView):
    """Acts as the key's owner, and does what that person may do at the desk."""

    scope = "curate"
    quota: Mapping[str, str] = {"GET": "read", "POST": "write", "PATCH": "write", "DELETE": "write"}
    ordering: ClassVar[tuple[str, ...]] = ("pk",)
    known: ClassVar[tuple[str, ...]] = ()
    """The query parameters that the view accepts."""

    def initial(self, request: Request, *arguments: Any, **options: Any) -> None:
        super().initial(request, *arguments, **options)
        parameters.refuse_unknown(request, self.known, always=())

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(_as_problem(exc))

    def page(self, rows: Any, shape: type[Shape]) -> Response:
        """Return one page of a queryset, in the view's `ordering`."""
        found: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(shape(found, many=True).data)


def person(request: Request) -> User:
    return cast(User, request.user)  # a key that curates has an owner


def version_seen(request: Request) -> str | None:
    """Return the version in the If-Match header of a view that declares `if_match`."""
    return cast("str | None", request.version_seen)  # type: ignore[attr-defined]


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


def key_of(text: str, what: str) -> int:
    """Parse a row's key in a URL. Raises Http404 when it is no number."""
    if text.isascii() and text.isdecimal() and len(text) < 19:
        return int(text)
    raise Http404(f"There is no {what} with this id.")


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
