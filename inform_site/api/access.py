"""Authentication, scopes, permissions and quotas of the API."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.utils import timezone
from rest_framework import authentication, exceptions, permissions, throttling
from rest_framework.request import Request

from inform_site.clients import addresses, keys, quotas
from inform_site.clients.models import ApiKey, Scope
from inform_site.clients.quotas import Taken

if TYPE_CHECKING:  # the framework's views read these classes from the settings
    from rest_framework.views import APIView

REALM = 'Bearer realm="inform"'
_VERSION = re.compile(r'"([0-9A-Za-z]{1,64})"')
ANONYMOUS_SCOPES = frozenset({Scope.ASK.value, Scope.READ.value})
HOW_TO_SEND_A_KEY = "Send it as “Authorization: Bearer inform_…” or “X-API-Key: inform_…”."


class KeyRefused(exceptions.AuthenticationFailed):
    default_code = "bad_key"


class KeyRequired(exceptions.NotAuthenticated):
    default_code = "key_required"


class MissingScope(exceptions.PermissionDenied):
    default_code = "missing_scope"

    def __init__(self, scope: str) -> None:
        super().__init__(f"This needs the scope {scope}, which your key does not have. Ask for a key that has it.")
        self.auth_header = f'{REALM}, error="insufficient_scope", scope="{scope}"'


class NotPermitted(exceptions.PermissionDenied):
    default_code = "not_permitted"


class VersionNeeded(exceptions.APIException):
    status_code = HTTPStatus.PRECONDITION_REQUIRED
    default_detail = "Send the version that you have read as If-Match, in quotes, so that nobody's changes are lost."
    default_code = "version_needed"


class QuotaUsedUp(exceptions.Throttled):
    default_code = "quota_used_up"

    def __init__(self, taken: Taken, *, has_key: bool) -> None:
        which, allowed = ("day", taken.limits.per_day) if not taken.left_in_day else ("minute", taken.limits.per_minute)
        more = "" if has_key else " A key allows more."
        exceptions.APIException.__init__(
            self,
            f"The {allowed} requests a {which} for “{taken.quota}” are used up. "
            f"Try again in {taken.wait_seconds} seconds.{more}",
        )
        self.wait = taken.wait_seconds


class KeyAuthentication(authentication.BaseAuthentication):
    """API key authentication by `Authorization: Bearer` or `X-API-Key`.

    `request.auth` is the key and `request.user` its owner; both are None without a key. Basic credentials are ignored,
    because they belong to a proxy.
    """

    def authenticate(self, request: Request) -> tuple[Any, ApiKey] | None:
        secret = sent_key(request._request)
        if secret is None:
            return None
        try:
            key = keys.find(secret, now=timezone.now())
        except keys.BadKey as bad:
            raise KeyRefused(str(bad)) from bad
        request._request.api_key = key  # type: ignore[attr-defined]
        return key.owner, key

    def authenticate_header(self, request: Request) -> str:
        is_sent = "HTTP_AUTHORIZATION" in request.META or "HTTP_X_API_KEY" in request.META
        return f'{REALM}, error="invalid_token"' if is_sent else REALM


def sent_key(request: HttpRequest) -> str | None:
    """Return the key that the request carries. Raises KeyRefused for credentials of another kind."""
    kind, _, rest = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
    if kind.lower() == "bearer":
        return str(rest.strip())
    if "HTTP_X_API_KEY" in request.META:
        return str(request.META["HTTP_X_API_KEY"]).strip()
    if kind and kind.lower() != "basic":
        raise KeyRefused(f"These credentials are of a kind that is not used here. {HOW_TO_SEND_A_KEY}")
    return None


def has_access(request: HttpRequest, view: Any) -> bool:
    """Return whether the request's key grants what the view declares. Count nothing and do not read the body."""
    method = str(request.method)
    try:
        key = keys.find(sent_key(request) or "", now=timezone.now())
    except (KeyRefused, keys.BadKey):
        return False
    permission = declared(view, "permission", method)
    if declared(view, "scope", method) not in key.scopes:
        return False
    return permission is None or bool(key.owner and key.owner.is_staff and key.owner.has_perm(permission))


class ScopeDeclared(permissions.BasePermission):
    """Require the `scope` that a view declares: a name, or a name for each method; None admits everybody."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not _is_served(view, request):
            return True  # the view answers 405
        scope = _declared(view, "scope", request)
        if scope is None:
            return True
        key: ApiKey | None = request.auth  # type: ignore[assignment]  # by KeyAuthentication
        if key is not None:
            if scope not in key.scopes:
                raise MissingScope(scope)
            return True
        if scope not in ANONYMOUS_SCOPES:
            raise KeyRequired(f"This needs a key with the scope {scope}. {HOW_TO_SEND_A_KEY}")
        return True


class PermissionDeclared(permissions.BasePermission):
    """Require that the key's owner has the `permission` that a view declares: a name, or one for each method."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        permission = declared(view, "permission", request.method)
        if permission is None or not _is_served(view, request):
            return True
        if not (request.user and request.user.is_staff and request.user.has_perm(permission)):
            raise NotPermitted(
                f"This takes the permission {permission} at the desk, which the owner of this key does not have."
            )
        return True


class VersionDeclared(permissions.BasePermission):
    """Read `If-Match` where a view declares `if_match`: for each method, whether it is required.

    The view compares the version.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        is_required = declared(view, "if_match", request.method)
        if is_required is None or not _is_served(view, request):
            return True
        request.version_seen = _version_sent(request)  # type: ignore[attr-defined]
        if is_required and request.version_seen is None:  # type: ignore[attr-defined]
            raise VersionNeeded
        return True


class ParametersOnce(permissions.BasePermission):
    """Refuse a query parameter that was sent twice, unless the view lists it in `given_often`."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        often = getattr(view, "given_often", ())
        twice = [name for name, values in request.query_params.lists() if len(values) > 1 and name not in often]
        if twice and _is_served(view, request):
            advice = exceptions.ErrorDetail("Send it once.", "repeated")
            raise exceptions.ValidationError({name[:100].replace("\0", "\\0"): [advice] for name in twice[:20]})
        return True


def _version_sent(request: Request) -> str | None:
    sent = request.headers.get("If-Match")
    if sent is None:
        return None
    form = _VERSION.fullmatch(sent.strip())
    if form is None:
        advice = 'Send the one version that you have read, in quotes, as "7".'
        raise exceptions.ValidationError({"If-Match": [exceptions.ErrorDetail(advice, "malformed")]})
    return form[1]


def declared(view: Any, name: str, method: str | None) -> Any:
    """Return an attribute of the view for this method; None where the view does not declare it."""
    found: Any = getattr(view, name, None)
    return found.get("GET" if method == "HEAD" else method) if isinstance(found, dict) else found


class QuotaDeclared(throttling.BaseThrottle):
    """Count a request against the `quota` that a view declares: a name, or a name for each method; None is not counted.

    A view may choose the quota for each request by `quota_of(request)`.
    """

    def allow_request(self, request: Request, view: APIView) -> bool:
        quota = _declared(view, "quota", request) if _is_served(view, request) else None
        if quota is not None and (choose := getattr(view, "quota_of", None)):
            quota = choose(request)
        if quota is None:
            return True
        taken = take(request._request, quota)
        if taken.wait_seconds:
            raise QuotaUsedUp(taken, has_key=request.auth is not None)
        return True


def _is_served(view: APIView, request: Request) -> bool:
    return request.method != "OPTIONS" and hasattr(view, str(request.method).lower())


def _declared(view: APIView, name: str, request: Request) -> str | None:
    """Return what the view declares for this method. Raises ImproperlyConfigured where it declares nothing."""
    declared: Any = getattr(view, name, _UNDECLARED)
    if isinstance(declared, dict):
        declared = declared.get("GET" if request.method == "HEAD" else request.method, _UNDECLARED)
    if declared is _UNDECLARED:
        raise ImproperlyConfigured(f"{type(view).__name__} declares no {name} for {request.method}.")
    found: str | None = declared
    return found


_UNDECLARED = object()


def take(request: HttpRequest, quota: str, amount: int = 1) -> Taken:
    """Count a request of its client as `amount` and store the remaining quota for the response headers."""
    key: ApiKey | None = getattr(request, "api_key", None)
    client = key.client_id if key else addresses.client_of(request)
    request.client_id = client  # type: ignore[attr-defined]  # for views that store data of a client
    taken = quotas.take(client, quota, quotas.limits(quota, key), now=timezone.now(), amount=amount)
    request.__dict__.setdefault("quotas_taken", []).append(taken)
    return taken


def seconds_to_wait(request: HttpRequest, quota: str, amount: int = 1) -> int:
    """Count a request for a page as `amount`; return the seconds to wait: 0 where the quota allows the request."""
    return take(request, quota, amount).wait_seconds


def may_mail(address_key: str) -> bool:
    """Count a mail that a stranger asks for; return whether its address may still be sent one today."""
    return not quotas.take(address_key, "mail", settings.MAIL_QUOTA, now=timezone.now()).wait_seconds
