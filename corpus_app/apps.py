from typing import Any

from django.apps import AppConfig, apps
from django.contrib.auth.management import create_permissions
from django.db.models.signals import post_migrate

from corpus_app.roles import ADMINISTRATORS, CURATORS, READERS, REVIEWERS, ROLES, ROLES_OF_DJANGO

CURATED_MODELS = (
    "study",
    "passage",
    "finding",
    "studyconcept",
    "concept",
    "conceptalias",
    "conceptcollection",
    "conceptrelation",
    "conceptrelationstudy",
    "collection",
)
READ = frozenset(
    {f"view_{model}" for model in (*CURATED_MODELS, "corpusevent", "studycomment", "importjob", "qualitywaiver")}
)
CURATE = frozenset({f"{act}_{model}" for model in CURATED_MODELS for act in ("add", "change", "delete")}) | {
    "publish_study",
    "set_notice_study",
    "add_studycomment",
    "add_importjob",
    "change_importjob",
    "add_qualitywaiver",
}


class CorpusConfig(AppConfig):
    name = "corpus_app"
    verbose_name = "Corpus"
    role_permissions = {
        READERS: READ,
        CURATORS: CURATE,
        REVIEWERS: frozenset({"review_study"}),
        ADMINISTRATORS: frozenset({"manage_vectors"}),
    }

    def ready(self) -> None:
        from corpus_app import hooks
        from corpus_app.desk import dashboard

        post_migrate.connect(keep_roles, dispatch_uid="corpus_app.keep_roles")
        hooks.dashboard_panels.append(dashboard.panels)


def keep_roles(*, app_config: AppConfig, using: str, **options: Any) -> None:
    """The groups of the desk, with exactly the permissions that each app names in its config. Safe to repeat.

    Not a migration: Django makes permissions only after the migrations have run, and a flush takes the groups away
    without undoing a migration. This runs after both.
    """
    named = getattr(app_config, "role_permissions", None) or ROLES_OF_DJANGO.get(app_config.label)
    if named is None:
        return
    create_permissions(app_config, using=using, verbosity=0)
    here = apps.get_model("auth.Permission").objects.using(using).filter(content_type__app_label=app_config.label)
    wanted: frozenset[str] = frozenset()
    for role in ROLES:
        wanted |= named.get(role, frozenset())
        group, _ = apps.get_model("auth.Group").objects.using(using).get_or_create(name=role)
        group.permissions.remove(*here.exclude(codename__in=wanted))
        group.permissions.add(*here.filter(codename__in=wanted))
