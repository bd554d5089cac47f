"""OpenID Connect as OpenID Connect Core 1.0 asks for it, whichever way an ID token came."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse

NAME = "oidc"
WELL_KNOWN = "/.well-known/"


class VerifyingAdapter(OpenIDConnectOAuth2Adapter):
    """Check signature and nonce of every ID token, and that the provider's metadata are its own."""

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the metadata of the provider. Raises OAuth2Error where they name another issuer."""
        config: dict[str, Any] = super().openid_config
        expected = settings.OIDC_SERVER.partition(WELL_KNOWN)[0]
        if config.get("issuer", "").rstrip("/") != expected.rstrip("/"):
            raise OAuth2Error("The metadata name another issuer.")
        return config

    def _decode_id_token(self, app: Any, id_token: str) -> dict[str, Any]:
        try:
            known: dict[str, Any] = jwtkit.verify_and_decode(
                credential=id_token,
                keys_url=self.openid_config["jwks_uri"],
                issuer=self.openid_config["issuer"],
                audience=app.client_id,
                lookup_kid=jwtkit.lookup_kid_jwk,
            )
        except KeyError as error:  # a token or key without a name
            raise OAuth2Error("Invalid id_token") from error
        if known.get("nonce") != _nonce(self.request.GET.get("state", "")):
            raise OAuth2Error("The token belongs to another login.")
        return known


def login(request: HttpRequest) -> HttpResponse:
    """Lead to the provider, which puts the nonce of this login into its token."""
    response = _reach(OAuth2LoginView, request)
    away = urlsplit(response.get("Location", ""))
    if state := dict(parse_qsl(away.query)).get("state"):
        response["Location"] = urlunsplit(away._replace(query=f"{away.query}&nonce={_nonce(state)}"))
    return response


def callback(request: HttpRequest) -> HttpResponse:
    """Sign in whom the provider names."""
    return _reach(OAuth2CallbackView, request)


def _nonce(state: str) -> str:
    """Return the nonce of a login, whose `state` is random, of this session, and counts once."""
    return hashlib.sha256(f"nonce {state}".encode()).hexdigest()


def _reach(view: Any, request: HttpRequest) -> HttpResponse:
    """Return the view's response, or the way back to the login where the provider is away or says what is not true."""
    try:
        response: HttpResponse = view.adapter_view(VerifyingAdapter(request, NAME))(request)
    except (OAuth2Error, OSError):  # requests' errors are OSErrors
        get_adapter().on_authentication_error(request)
        raise
    return response
