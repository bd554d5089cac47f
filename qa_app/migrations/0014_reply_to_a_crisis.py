"""The first approved reply to a question that is asked in despair. Its words are copied: code may change, rows may not."""

from django.db import migrations, models
from django.utils import timezone

ROUTE = "crisis"
TEXT = (
    "What you write sounds heavy, and you need not carry it alone. If you or someone near you might come to harm, call "
    "your local emergency number now (112 in Europe, 999 in the UK, 911 in North America). Someone to talk to, day and "
    "night: 116 123 in the UK, Ireland and many other countries of Europe, 988 in the United States and Canada. Please "
    "also tell somebody close to you, and a doctor. A library of studies is not what helps now."
)
CHOICES = [
    ("crisis", "Crisis"),
    ("emergency", "Emergency"),
    ("pregnancy", "Pregnancy"),
    ("eating", "Eating"),
    ("minor", "Minor"),
    ("drugs", "Drugs"),
    ("medicine", "Medicine"),
    ("personal_medical", "Personal medical"),
    ("diagnosis", "Diagnosis"),
]


def add_first_reply(apps, schema_editor):
    now = timezone.now()
    rows = apps.get_model("qa_app", "SafetyReply").objects.using(schema_editor.connection.alias)
    rows.create(route=ROUTE, version=1, text=TEXT, instead="", status="approved", written_at=now, reviewed_at=now)


def remove_first_reply(apps, schema_editor):
    rows = apps.get_model("qa_app", "SafetyReply").objects.using(schema_editor.connection.alias)
    rows.filter(route=ROUTE, version=1, text=TEXT, written_by=None).delete()


class Migration(migrations.Migration):
    dependencies = [("qa_app", "0013_replies_to_pregnancy_and_diagnosis")]

    operations = [
        migrations.AlterField(
            model_name="safetyreply", name="route", field=models.CharField(choices=CHOICES, max_length=40)
        ),
        migrations.RunPython(add_first_reply, remove_first_reply),
    ]
