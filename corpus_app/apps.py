from functools import partial
from typing import Any

from django.apps import AppConfig, apps
from django.contrib.auth.management import create_permissions
from django.db.models.signals import post_migrate

from corpus_app.roles import ADMINISTRATORS, CURATORS, DJANGO_ROLES, READERS, REVIEWERS, ROLES

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
    "outcomecertainty",
)
READ = frozenset(
    {
        f"view_{model}"
        for model in (*CURATED_MODELS, "corpusevent", "studycomment", "importjob", "bulkedit", "qualitywaiver")
    }
)
CURATE = frozenset({f"{act}_{model}" for model in CURATED_MODELS for act in ("add", "change", "delete")}) | {
    "publish_study",
    "set_notice_study",
    "add_studycomment",
    "add_importjob",
    "change_importjob",
    "add_bulkedit",
    "change_bulkedit",
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
        from corpus_app import hooks, indexing
        from corpus_app.desk import dashboard

        post_migrate.connect(sync_roles, dispatch_uid="corpus_app.sync_roles")
        hooks.dashboard_panels.append(dashboard.panels)
        hooks.indexing_checks.append(partial(indexing.has_work, only_published=True))


def sync_roles(*, app_config: AppConfig, using: str, **options: Any) -> None:
    """Create the desk's groups with exactly the permissions that each app's config names. Safe to repeat.

    This cannot be a migration: Django creates permissions after all migrations, and a flush deletes the groups.
    """
    named = getattr(app_config, "role_permissions", None) or DJANGO_ROLES.get(app_config.label)
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
