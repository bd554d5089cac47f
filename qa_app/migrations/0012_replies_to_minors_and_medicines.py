"""A new version of two replies, where nobody has written one since: what they said of the studies, and of food with medicines, was not
quite so. Their words are copied: code may change, rows may not."""

from django.db import migrations
from django.utils import timezone

TEXTS = {
    "minor": (
        "Training, diets and supplements for children and teenagers need someone who knows the child: a "
        "paediatrician, a family doctor or a qualified youth coach, together with a parent. Most studies here "
        "are on adults, and this site gives no plan for anyone under 18."
    ),
    "medicine": (
        "Whether to start, stop or change a medicine, and how to eat and train with it, is a question for the "
        "doctor who prescribed it: stopping some of them suddenly is dangerous, however well training goes. "
        "Please ask your doctor or pharmacist first. This site can tell you what studies found about training "
        "in groups of people, not what is right for your treatment."
    ),
}


def add_second_versions(apps, schema_editor):
    now = timezone.now()
    rows = apps.get_model("qa_app", "SafetyReply").objects.using(schema_editor.connection.alias)
    for route, text in TEXTS.items():
        newest = rows.filter(route=route).order_by("-version").first()
        if newest is None or newest.version > 1 or newest.status != "approved":
            continue
        rows.filter(pk=newest.pk).update(status="replaced")
        rows.create(
            route=route,
            version=2,
            text=text,
            instead=newest.instead,
            status="approved",
            written_at=now,
            reviewed_at=now,
        )


def remove_second_versions(apps, schema_editor):
    rows = apps.get_model("qa_app", "SafetyReply").objects.using(schema_editor.connection.alias)
    for route, text in TEXTS.items():
        if rows.filter(route=route, version=2, text=text, written_by=None).delete()[0]:
            rows.filter(route=route, version=1).update(status="approved")


class Migration(migrations.Migration):
    dependencies = [("qa_app", "0011_values_in_words")]

    operations = [migrations.RunPython(add_second_versions, remove_second_versions)]
