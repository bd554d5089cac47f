"""OpenAPI generation: add what all operations share and what each view declares."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.views import APIView

from inform_site.api import access, problems
from inform_site.clients.models import Scope

SECURITY = ("bearer", "key")
STRING = {"type": "string"}
CHOSEN = "With `fields`, those alone; else all of them."


class ProblemField(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Where it is, as `question` or `passages.2.text`; empty for the whole.")
    code = serializers.CharField(help_text="A short word for programs, as `too_long`.")
    detail = serializers.CharField(help_text="What to do, in words.")


class Problem(serializers.Serializer[Any]):
    """RFC 9457."""

    type = serializers.CharField(help_text="The kind of problem, as `urn:inform:problem:invalid`.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What to do, in a sentence.")
    errors = ProblemField(  # type: ignore[assignment]
        many=True, help_text="Field by field what is wrong; empty where it is no single field."
    )


# What may come of an operation: kind, and an example of what is said.
FAILURES = {
    400: ("invalid", problems.CORRECT),
    401: ("bad-key", "This key is expired. Ask for a new one."),
    403: ("missing-scope", "This needs the scope read, which your key does not have. Ask for a key that has it."),
    404: ("not-found", "There is no study with this id."),
    405: ("method-not-allowed", problems.ADVICE["method_not_allowed"]),
    406: ("not-acceptable", problems.ADVICE["not_acceptable"]),
    409: ("conflict", "This does not fit what is there. Read it again, and send the request anew."),
    410: ("gone", "This was kept for a while and is there no longer. Ask again."),
    412: ("stale", "It is at version 8 now. Read it again, then make your change."),
    413: ("too-large", "The request is larger than 64 KB. Send less."),
    415: ("unsupported-media-type", problems.ADVICE["unsupported_media_type"]),
    422: ("not-possible", "There is nothing to do this with."),
    428: ("version-needed", access.VersionNeeded.default_detail),
    429: (
        "quota-used-up",
        "The 20 requests a minute for “ask” are used up. Try again in 41 seconds. A key allows more.",
    ),
    500: ("failed", "Something failed here, and it has been noted. Please try again in a while."),
    503: ("unavailable", problems.DATABASE_AWAY),
}
EVERY = (400, 404, 405, 406, 500, 503)
OF_BODIES, OF_SCOPES, OF_QUOTAS, OF_VERSIONS = (413, 415), (401, 403), (429,), (412, 428)
HEADERS = {
    "X-Request-ID": "The request's id, which also stands in the log.",
    "RateLimit": 'What is left, as `"ask-minute";r=19;t=34`.',
    "RateLimit-Policy": 'The quotas, as `"ask-minute";q=20;w=60`.',
    "ETag": "Stands for exactly these bytes; send it as If-None-Match.",
    "WWW-Authenticate": "What would be needed.",
    "Retry-After": "Seconds.",
}


class Schema(AutoSchema):
    def get_operation(self, *arguments: Any, **options: Any) -> Any:
        operation = super().get_operation(*arguments, **options)
        if operation is None:
            return None
        for status, response in operation["responses"].items():
            if int(status) in FAILURES and problems.CONTENT_TYPE in response.get("content", {}):
                operation["responses"][status] = {"$ref": f"#/components/responses/{status}"}
                continue
            response["headers"] = self._headers(int(status)) | response.get("headers", {})
        for status in self._failures():
            operation["responses"].setdefault(str(status), {"$ref": f"#/components/responses/{status}"})
        operation["responses"] = dict(sorted(operation["responses"].items()))
        self.resolve_serializer(Problem, "response")
        scope = self._declared("scope")
        if scope is not None:
            needs = "Without a key too, within a smaller quota." if scope in {"ask", "read"} else ""
            said = f"Scope of the key: `{scope}`. {needs}".strip()
            operation["description"] = "\n\n".join(filter(None, (operation.get("description"), said)))
        if permission := access.declared(self.view, "permission", self.method):
            operation["x-permission"] = permission
            operation["description"] += f" Permission of its owner: `{permission}`."
        if (is_needed := access.declared(self.view, "if_match", self.method)) is not None:
            named = "If-Match" if is_needed else "If-Match-where-wanted"
            operation.setdefault("parameters", []).append({"$ref": f"#/components/parameters/{named}"})
        if (is_quoted := self._declared("quota")) is not None:
            operation["x-quota"] = is_quoted
        return operation

    def get_request_serializer(self) -> Any:
        return super().get_request_serializer() if self._is_described() else OpenApiTypes.OBJECT

    def get_response_serializers(self) -> Any:
        return super().get_response_serializers() if self._is_described() else OpenApiTypes.OBJECT

    def get_summary(self) -> str | None:
        """Return the declared summary, or else the first line of the docstring, or else the view's name."""
        found: str | None = super().get_summary()
        said = (type(self.view).__doc__ or type(self.view).__name__).strip().splitlines()[0]
        return found or (None if self._is_described() else said)

    def get_tags(self) -> list[str]:
        """Return the declared tags, or else a default."""
        if not self.path.startswith("/api/v1/"):
            return ["Earlier addresses"]
        return ["Corpus" if type(self.view).__module__.startswith("corpus_app") else "Questions"]

    def _is_described(self) -> bool:
        return hasattr(self.view, "serializer_class")

    def get_auth(self) -> list[dict[str, list[str]]]:
        scope = self._declared("scope")
        if scope is None:
            return [{}]
        found: list[dict[str, list[str]]] = [{name: []} for name in SECURITY]
        return [*found, {}] if scope in {Scope.ASK, Scope.READ} else found

    def _declared(self, name: str) -> str | None:
        declared = getattr(self.view, name, None)
        found: str | None = declared.get(self.method) if isinstance(declared, dict) else declared
        return found

    def _failures(self) -> list[int]:
        if type(self.view).get_exception_handler is not APIView.get_exception_handler:
            return []  # it says in its own way what went wrong
        failures = [*EVERY]
        failures += OF_BODIES if self.method in {"POST", "PUT", "PATCH"} else ()
        failures += OF_SCOPES if self._declared("scope") is not None else ()
        if (is_needed := access.declared(self.view, "if_match", self.method)) is not None:
            failures += OF_VERSIONS if is_needed else OF_VERSIONS[:1]
        failures += access.declared(self.view, "failures", self.method) or ()
        failures += OF_QUOTAS if self._declared("quota") is not None else ()
        return failures

    def _headers(self, status: int) -> dict[str, Any]:
        names = ["X-Request-ID"]
        names += ["RateLimit", "RateLimit-Policy"] if self._declared("quota") is not None else []
        names += ["ETag"] if status == HTTPStatus.OK and self.method == "GET" else []
        return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _failure(status: int, kind: str, said: str) -> dict[str, Any]:
    errors = [{"field": "limit", "code": "unknown", "detail": "Send a whole number from 1 to 100."}]
    example = {
        "type": problems.URN + kind,
        "title": problems.TITLES[kind],
        "status": status,
        "detail": said,
        "errors": errors if status == HTTPStatus.BAD_REQUEST else [],
    }
    names = ["X-Request-ID"]
    names += ["WWW-Authenticate"] if status == HTTPStatus.UNAUTHORIZED else []
    names += ["Retry-After"] if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE} else []
    return {
        "description": problems.TITLES[kind],
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
        "content": {problems.CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}},
    }


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "inform_site.api.access.KeyAuthentication"
    name = list(SECURITY)

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": "bearer", "bearerFormat": "inform_…", "description": "A key of this site."},
            {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key."},
        ]


def complete(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Add shared components and conditional reads to the generated schema (a postprocessing hook)."""
    for operations in result["paths"].values():
        if "get" in operations:
            read = operations["get"]
            read.setdefault("parameters", []).append({"$ref": "#/components/parameters/If-None-Match"})
            read["responses"]["304"] = {"description": "The copy is still good."}
            read["responses"].setdefault("412", {"$ref": "#/components/responses/412"})
            read["responses"] = dict(sorted(read["responses"].items()))
            _loosen_chosen(read, result["components"]["schemas"])
    components = result["components"]
    _strip(components)
    _strip(result["paths"])
    components["responses"] = {str(status): _failure(status, *said) for status, said in FAILURES.items()}
    components["headers"] = {name: {"description": said, "schema": STRING} for name, said in HEADERS.items()}
    components["parameters"] = {
        "If-None-Match": {
            "in": "header",
            "name": "If-None-Match",
            "schema": STRING,
            "description": "The ETag of a copy.",
        },
        "If-Match": _if_match(is_needed=True),
        "If-Match-where-wanted": _if_match(is_needed=False),
    }
    return result


def _if_match(*, is_needed: bool) -> dict[str, Any]:
    said = "The `version` that you have read, in quotes; 412 where somebody has changed it since."
    return {
        "in": "header", "name": "If-Match", "schema": STRING,
        "required": is_needed, "description": said, "example": '"7"',
    }  # fmt: skip


def _loosen_chosen(read: dict[str, Any], shapes: dict[str, Any]) -> None:
    """Make every property optional where a client may choose `fields`."""
    if not any(parameter.get("name") == "fields" for parameter in read["parameters"]):
        return
    shape = shapes[_name(read["responses"]["200"]["content"]["application/json"]["schema"])]
    if set(shape["properties"]) == {"items", "next"}:
        shape = shapes[_name(shape["properties"]["items"]["items"])]
    if shape.pop("required", None):
        shape["description"] = " ".join(filter(None, (shape.get("description"), CHOSEN)))


def _name(reference: dict[str, str]) -> str:
    return reference["$ref"].rpartition("/")[2]


def _strip(value: Any) -> None:
    """Remove the generator's internal keys."""
    if isinstance(value, dict):
        value.pop("x-spec-enum-id", None)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _strip(inner)
