"""Pages of an account: allauth's views in the dress of the desk, and the list of own sessions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from urllib.parse import urlsplit

from allauth.mfa.base.views import IndexView
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache

from inform_site.accounts import provider, sessions

View = Callable[..., HttpResponse]


def desk_page(view: Any, template: str, title: str) -> View:
    """Return one of allauth's views with a template of the desk and what every page of the desk needs."""
    return _page(view.as_view(template_name=f"admin/account/{template}.html"), title)


def entrance_page(view: Any, template: str, title: str) -> View:
    """Return the same for a page before the login, whose form may lead to the OpenID Connect provider."""
    return _with_provider(desk_page(view, template, title))


def _page(view: View, title: str) -> View:
    @never_cache
    @wraps(view)
    def page(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        response = view(request, *arguments, **options)
        if isinstance(response, TemplateResponse):
            of_desk = admin.site.each_context(request)
            own = response.context_data or {}
            response.context_data = {**of_desk, "title": title, "is_nav_sidebar_enabled": False, **own}
        return response

    return page


def _with_provider(view: View) -> View:
    """Allow the forms of this page to lead to the provider, and name it."""

    @wraps(view)
    def page(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        response = view(request, *arguments, **options)
        if settings.OIDC_SERVER:
            server = urlsplit(settings.OIDC_SERVER)
            vars(response)["_csp_update"] = {"form-action": [f"{server.scheme}://{server.netloc}"]}
            if isinstance(response, TemplateResponse) and response.context_data is not None:
                app = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]
                response.context_data |= {"provider_name": app["name"], "provider_id": provider.NAME}
        return response

    return page


@_with_provider
def sign_in_elsewhere(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead to the provider on POST; on GET ask for the click that does."""
    _require_provider(provider_id)
    if request.method == "POST":
        return provider.login(request)
    shown = {**admin.site.each_context(request), "title": "Log in", "is_nav_sidebar_enabled": False}
    return TemplateResponse(request, "admin/account/provider.html", shown)


def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Sign in whoever comes back from the provider."""
    _require_provider(provider_id)
    return provider.callback(request)


def _require_provider(provider_id: str) -> None:
    if not settings.OIDC_SERVER or provider_id != provider.NAME:
        raise Http404


class AccountView(IndexView):
    """The page of one's account: password, second factors, sessions."""

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().get_context_data(**options)
        shown["sessions"] = sessions.own_sessions(_user(self.request))
        shown["is_factor_required"] = settings.SECOND_FACTOR_REQUIRED
        return shown


@login_required
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    if sessions.end(_user(request), pk=pk):
        messages.success(request, "That session has ended.")
    return HttpResponseRedirect(reverse("mfa_index"))


@login_required
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    number = sessions.end(_user(request), besides=request.session.session_key)
    messages.success(request, f"Sessions ended: {number}.")
    return HttpResponseRedirect(reverse("mfa_index"))


def _user(request: HttpRequest) -> User:
    return cast(User, request.user)  # these pages ask for a login
