"""Who may sign in to the desk. An administrator gives roles; nobody makes themselves more than they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest

from corpus_app.admin.base import curator
from corpus_app.apps import ROLES

if TYPE_CHECKING:  # generic for the type checker alone
    DjangosUserAdmin = UserAdmin[User]
else:
    DjangosUserAdmin = UserAdmin

Group._meta.verbose_name, Group._meta.verbose_name_plural = "role", "roles"  # what the desk calls them everywhere

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(Group)
class RoleAdmin(GroupAdmin):
    filter_horizontal = ()  # as below


class RoleFilter(admin.RelatedFieldListFilter):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = "role"


@admin.register(User)
class PersonAdmin(DjangosUserAdmin):
    """Django's page for users; administrators who are no superusers see only what concerns the desk's roles."""

    list_display = ("username", "first_name", "last_name", "roles", "is_active", "last_login")
    list_filter = ("is_active", ("groups", RoleFilter))
    filter_horizontal = ()  # the two boxes side by side speak of themselves in a way that screen readers may not hear

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
                "label": "Roles",
                "help_text": "What they may do at the desk.",
            }
            if not curator(request).is_superuser:
                options["queryset"] = Group.objects.filter(name__in=ROLES)
        return super().formfield_for_manytomany(db_field, request, **options)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """A superuser is changed by superusers only, password included."""
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or not obj.is_superuser or curator(request).is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False  # what people did stays under their names: take their access away instead
