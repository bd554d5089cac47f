"""What django-allauth asks the site: who may sign in, by which names it is counted, how secrets are stored."""

from __future__ import annotations

import base64
import secrets
from typing import TYPE_CHECKING, Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from common.encryption import CannotDecrypt, decrypt, encrypt
from inform_site.accounts import audit, browsers, throttle
from inform_site.accounts.audit import Kind
from qa_app.answers.site_words import site_name

if TYPE_CHECKING:
    from allauth.socialaccount.models import SocialLogin

PURPOSE = "second factors"
LOCAL = "127.0.0.1"  # a client of a Unix socket
NO_ACCOUNT = "There is no account for you at this desk. An administrator makes one with your e-mail address."
NOT_AUTHENTICATED = "That did not work. Try again, or sign in with your password."


class AccountAdapter(DefaultAccountAdapter):
    """Sign in people of the desk, and nobody else; count failures before a password is looked at."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return str(audit.address_of(request) or LOCAL)

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        return reverse("admin:index")

    def get_logout_redirect_url(self, request: HttpRequest) -> str:
        return reverse("admin:index")

    def add_message(self, request: HttpRequest, level: int, *arguments: Any, **options: Any) -> None:
        """Show errors only: the page itself says that somebody signed in or out."""
        if level >= messages.ERROR:
            super().add_message(request, level, *arguments, **options)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return the person of the desk; None where the password is wrong. Raises TooManyAttempts."""
        name = str(credentials.get("username", ""))
        address = audit.address_of(request)
        known_as = browsers.id_of(request, name)
        if not known_as and audit.knows_address(name, address):
            known_as = str(address)
        try:
            attempt = throttle.begin(account=name, address=str(address), known_as=known_as)
        except throttle.TooManyAttempts:
            audit.record(Kind.LOGIN_REFUSED, request=request, actor=name)
            raise
        user = authenticate(request, **credentials)
        if isinstance(user, User) and user.is_staff:
            throttle.succeed(attempt)
            return user
        audit.record(Kind.LOGIN_FAILED, request=request, actor=name)
        return None

    def post_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **options)
        browsers.remember(request, response, user.get_username())
        return response


class MFAAdapter(DefaultMFAAdapter):
    """Encrypt the secrets of second factors, and name the site in them."""

    def encrypt(self, text: str) -> str:
        return encrypt(text, purpose=PURPOSE)

    def decrypt(self, encrypted_text: str) -> str:
        """Return the secret; after a change of SECRET_KEY a random one, of which no code is right."""
        try:
            return decrypt(encrypted_text, purpose=PURPOSE)
        except CannotDecrypt:
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def get_totp_issuer(self) -> str:
        return site_name()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {**super().get_public_key_credential_rp_entity(), "name": self.get_totp_issuer()}


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Sign in by OpenID Connect whoever has an account here with the verified e-mail address of the provider."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Link a first login to its account. Raises ImmediateHttpResponse where there is none."""
        if sociallogin.is_existing:
            if sociallogin.user.is_staff and sociallogin.user.is_active:
                return
        else:
            verified = [address.email for address in sociallogin.email_addresses if address.verified]
            people = User.objects.filter(is_active=True, is_staff=True)
            found = [person for email in verified for person in people.filter(email__iexact=email)[:2]]
            if len(found) == 1:
                sociallogin.connect(request, found[0])
                return
        audit.record(Kind.LOGIN_FAILED, request=request, what="OpenID Connect: no account")
        messages.error(request, NO_ACCOUNT)
        raise ImmediateHttpResponse(HttpResponseRedirect(reverse("account_login")))

    def on_authentication_error(self, request: HttpRequest, *arguments: Any, **options: Any) -> None:
        """Lead back to the login page. Raises ImmediateHttpResponse."""
        audit.record(Kind.LOGIN_FAILED, request=request, what="OpenID Connect: error of the provider")
        messages.error(request, NOT_AUTHENTICATED)
        raise ImmediateHttpResponse(HttpResponseRedirect(reverse("account_login")))
