"""Admin pages of users and roles, without ways to raise one's own permissions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet
from django.forms.models import ModelChoiceIterator
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from corpus_app.desk.base import EmptyLabelFilter, curator
from corpus_app.models import ConceptRelationStudy, StudyComment, StudyConcept
from corpus_app.roles import DJANGO_ROLES, ROLES

if TYPE_CHECKING:  # generic for the type checker alone
    DjangosUserAdmin = UserAdmin[User]
    ModelChoices = ModelChoiceIterator[Permission]
    PermissionsChoice = forms.ModelMultipleChoiceField[Permission]
else:
    DjangosUserAdmin = UserAdmin
    ModelChoices = ModelChoiceIterator
    PermissionsChoice = forms.ModelMultipleChoiceField

# the desk's names
Group._meta.verbose_name, Group._meta.verbose_name_plural = "role", "roles"
StudyConcept._meta.verbose_name, StudyComment._meta.verbose_name = _("concept of a study"), _("comment on a study")
ConceptRelationStudy._meta.verbose_name = _("study behind a relation")

admin.site.unregister(User)
admin.site.unregister(Group)


class PermissionChoices(ModelChoices):
    """Permission choices grouped by model."""

    def __iter__(self) -> Iterator[Any]:
        for kind, permissions in groupby(self.queryset, lambda permission: permission.content_type):
            yield capfirst(kind.name), [self.choice(permission) for permission in permissions]


class PermissionBoxes(forms.CheckboxSelectMultiple):
    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        return render_to_string("admin/auth/permissions.html", self.get_context(name, value, attrs))


class PermissionsField(PermissionsChoice):
    iterator = PermissionChoices
    widget = PermissionBoxes

    def label_from_instance(self, permission: Permission) -> str:
        act, _sep, kind = permission.codename.partition("_")
        if kind == permission.content_type.model and act in {"add", "change", "delete", "view"}:
            return act.capitalize()
        return capfirst(gettext(permission.name.removeprefix("Can ")))


def permissions_field(db_field: Any) -> PermissionsField:
    """Build checkboxes for the models of the desk's roles, and for any other permission in use."""
    named = [getattr(config, "role_permissions", {}) for config in apps.get_app_configs()]
    codenames = {name for roles in (*named, *DJANGO_ROLES.values()) for names in roles.values() for name in names}
    kinds = ContentType.objects.filter(permission__codename__in=codenames)
    given = Q(group__isnull=False) | Q(user__isnull=False)
    rows = Permission.objects.filter(pk__in=Permission.objects.filter(Q(content_type__in=kinds) | given).values("pk"))
    rows = rows.select_related("content_type").order_by("content_type__app_label", "content_type__model", "id")
    return PermissionsField(queryset=rows, required=False, label=capfirst(db_field.verbose_name))


@admin.register(Group)
class RoleAdmin(GroupAdmin):
    filter_horizontal = ()  # see PersonAdmin

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest | None = None, **options: Any) -> Any:
        if db_field.name == "permissions":
            return permissions_field(db_field)
        return super().formfield_for_manytomany(db_field, request, **options)


class RoleFilter(EmptyLabelFilter):
    empty_label = "Without a role"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = "role"


@admin.register(User)
class PersonAdmin(DjangosUserAdmin):
    """Django's user admin; without superuser rights it shows only the desk's roles."""

    list_display = ("username", "first_name", "last_name", "roles", "is_active", "last_login")
    list_filter = ("is_active", ("groups", RoleFilter))
    filter_horizontal = ()  # Django's two-box widget is not accessible to screen readers

    actions = ("end_sessions", "remove_second_factors")

    @admin.action(description="End their sessions", permissions=["change"])
    def end_sessions(self, request: HttpRequest, people: QuerySet[User]) -> None:
        sessions = list(UserSession.objects.filter(user__in=self._changeable(request, people)))
        for session in sessions:
            session.end()
        messages.success(request, f"Sessions ended: {len(sessions)}.")

    @admin.action(description="Remove their second factors, for who lost them", permissions=["change"])
    def remove_second_factors(self, request: HttpRequest, people: QuerySet[User]) -> None:
        Authenticator.objects.filter(user__in=self._changeable(request, people)).delete()
        messages.success(request, "Removed: they log in with their password, and add new ones.")

    def _changeable(self, request: HttpRequest, people: QuerySet[User]) -> list[User]:
        return [person for person in people if self.has_change_permission(request, person)]

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        people: QuerySet[User] = super().get_queryset(request).prefetch_related("groups")
        return people

    @admin.display(description="roles")
    def roles(self, person: User) -> str:
        if person.is_superuser:
            return "Everything"
        return ", ".join(group.name for group in person.groups.all()) or "None"

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        if obj is None:
            return super().get_fieldsets(request, obj)
        is_super = curator(request).is_superuser
        desk = ("is_active", "is_staff", *(("is_superuser",) if is_super else ()), "groups")
        single = ("Single permissions", {"classes": ("collapse",), "fields": ("user_permissions",)})
        return (
            (None, {"fields": ("username", "password")}),
            ("Person", {"fields": ("first_name", "last_name", "email")}),
            ("Desk", {"fields": desk}),
            *((single,) if is_super else ()),
            ("Dates", {"fields": ("last_login", "date_joined")}),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        return ("last_login", "date_joined") if obj else ()

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name == "groups":
            options |= {
                "label": "Roles at the desk",
                "help_text": "",
                "widget": forms.CheckboxSelectMultiple,
            }
            if not curator(request).is_superuser:
                options["queryset"] = Group.objects.filter(name__in=ROLES)
        if db_field.name == "user_permissions":
            return permissions_field(db_field)
        return super().formfield_for_manytomany(db_field, request, **options)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return whether the user may be changed; only superusers may change superusers."""
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or not obj.is_superuser or curator(request).is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False  # the history refers to users: deactivate them instead
