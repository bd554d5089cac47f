"""A new version of two replies, where nobody has written one since: on pregnancy it spoke as if everybody who asks had a symptom, on a
diagnosis as if they had an injury. Their words are copied: code may change, rows may not."""

from django.db import migrations
from django.utils import timezone

TEXTS = {
    "pregnancy": (
        "How to train in pregnancy is for the midwife or doctor who looks after you to say. With any symptom or "
        "complication, please pause training and speak to them today rather than tomorrow; call the emergency number "
        "if there is bleeding, strong pain or faintness. This site gives no advice on it."
    ),
    "diagnosis": (
        "This sounds like something to be looked at, and no website can examine you. What a test shows is for the "
        "doctor who had it done to explain. With an injury, please rest the part and see a doctor or physiotherapist, "
        "soon if it is swollen, misshapen, numb, weak or very painful. This site cannot say what is wrong or which "
        "exercise would help."
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
    dependencies = [("qa_app", "0012_replies_to_minors_and_medicines")]

    operations = [migrations.RunPython(add_second_versions, remove_second_versions)]
