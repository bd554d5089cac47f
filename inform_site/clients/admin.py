"""Admin pages to create, rotate and revoke API keys. A secret is shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from inform_site.clients import keys
from inform_site.clients.models import ApiKey, Scope

if TYPE_CHECKING:  # generic for the type checker alone
    ModelForm = forms.ModelForm[ApiKey]
    ModelAdmin = admin.ModelAdmin[ApiKey]
else:
    ModelForm = forms.ModelForm
    ModelAdmin = admin.ModelAdmin

SHOWN_ONCE = "The key of {name} is {secret} — copy it now: it is kept nowhere and cannot be shown again."


class ApiKeyForm(ModelForm):
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, widget=forms.CheckboxSelectMultiple, help_text="What it may do."
    )

    class Meta:
        model = ApiKey
        fields = ["name", "scopes", "owner", "expires_at"]


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    form = ApiKeyForm
    list_display = ["name", "shown_prefix", "may", "owner", "state", "expires_at", "last_used_at"]
    list_select_related = ["owner"]
    search_fields = ["name", "prefix", "owner__username"]
    list_filter = ["created_at", "expires_at", "revoked_at"]
    fields = ["name", "scopes", "owner", "expires_at"]
    facts = ["shown_prefix", "state", "created_at", "created_by", "last_used_at", "earlier_until", "revoked_at"]
    change_form_template = "admin/clients/apikey/change_form.html"

    @admin.display(description="begins with")
    def shown_prefix(self, key: ApiKey) -> str:
        return f"inform_{key.prefix}_…"

    @admin.display(description="may")
    def may(self, key: ApiKey) -> str:
        return ", ".join(key.scopes)

    @admin.display(description="state")
    def state(self, key: ApiKey) -> str:
        return key.state(timezone.now())

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return self.fields if obj is None else [*cast(list[str], self.fields), *self.facts]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return [] if obj is None else self.facts

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False  # a key that was used is revoked, not forgotten

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        made = keys.make(
            name=obj.name, scopes=obj.scopes, owner=obj.owner, by=cast(User, request.user), now=timezone.now(),
            expires_at=obj.expires_at,
        )  # fmt: skip
        obj.pk, obj._state.adding = made.key.pk, False
        self._show(request, made)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("<int:pk>/rotate/", wrap(require_POST(self.rotate)), name="clients_apikey_rotate"),
            path("<int:pk>/revoke/", wrap(require_POST(self.revoke)), name="clients_apikey_revoke"),
            *super().get_urls(),
        ]

    def rotate(self, request: HttpRequest, pk: int) -> HttpResponse:
        key = self._changeable(request, pk)
        try:
            self._show(request, keys.rotate(key, now=timezone.now()))
        except keys.BadKey as bad:
            messages.error(request, str(bad))
        return self._back(pk)

    def revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        key = self._changeable(request, pk)
        keys.revoke(key, now=timezone.now())
        messages.success(request, f"{key} opens nothing any more.")
        return self._back(pk)

    def _changeable(self, request: HttpRequest, pk: int) -> ApiKey:
        key = self.get_object(request, str(pk))
        if key is None or not self.has_change_permission(request, key):
            raise PermissionDenied
        return key

    @staticmethod
    def _show(request: HttpRequest, made: keys.Made) -> None:
        messages.warning(request, SHOWN_ONCE.format(name=made.key.name, secret=made.secret))

    @staticmethod
    def _back(pk: int) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:clients_apikey_change", args=[pk]))
