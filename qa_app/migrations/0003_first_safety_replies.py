"""The replies that were built in, as the first approved version of each route. Their words are copied: code may change, rows may not."""

from django.db import migrations
from django.utils import timezone

INSTEAD = (
    "What this site can do: say what published studies found about training, protein, supplements and "
    "exercise in later life, with each sentence tied to its source. Ask about a group of people rather "
    "than about one person's health."
)
TEXTS = {
    "emergency": (
        "This may be an emergency, and it is nothing that a library of studies can help with. Stop exercising"
        " now. If someone may be in danger, call your local emergency number (112 in Europe, 999 in the UK, "
        "911 in North America) or have someone take you to an emergency department at once. When it is safe, "
        "ask a doctor before you train again."
    ),
    "pregnancy": (
        "Symptoms or complications in pregnancy need a midwife or doctor, today rather than tomorrow, and the"
        " emergency number if there is bleeding, strong pain or faintness. Please pause training until they "
        "have said what is safe. This site gives no advice on it."
    ),
    "eating": (
        "What you describe deserves care rather than a training or diet plan, and this site will not give "
        "numbers for it. Please talk to your doctor, or to an eating-disorder helpline in your country; both "
        "are used to these questions and do not judge. If you feel faint, have chest pain or think of harming"
        " yourself, call the emergency number."
    ),
    "minor": (
        "Training, diets and supplements for children and teenagers need someone who knows the child: a "
        "paediatrician, a family doctor or a qualified youth coach, together with a parent. The studies here "
        "are on adults, so this site gives no plan for anyone under 18."
    ),
    "drugs": (
        "This site gives no doses or schedules for medicines, hormones or doping substances, whoever asks: "
        "taken without a doctor they can do lasting harm or kill. If you take or are thinking of taking them,"
        " a doctor or a drug advice service can talk it through in confidence."
    ),
    "medicine": (
        "Whether to start, stop or change a medicine is a decision for the doctor who prescribed it: stopping"
        " some of them suddenly is dangerous, however well training goes. Please ask your doctor or "
        "pharmacist first. This site can tell you what studies found about training in groups of people, not "
        "what is right for your treatment."
    ),
    "personal_medical": (
        "That depends on your own health, which only the people who treat you know. Please ask the doctor who"
        " looks after you before you change your training or diet. This site can tell you what studies found "
        "in groups of people, not what is safe for you."
    ),
    "diagnosis": (
        "This sounds like something to be looked at, and no website can examine you. Please rest the part and"
        " see a doctor or physiotherapist, soon if it is swollen, misshapen, numb, weak or very painful. This"
        " site cannot say what is wrong or which exercise would help."
    ),
}


def add_first_replies(apps, schema_editor):
    now = timezone.now()
    rows = apps.get_model("qa_app", "SafetyReply").objects.using(schema_editor.connection.alias)
    for route, text in TEXTS.items():
        rows.create(
            route=route, version=1, text=text, instead=INSTEAD, status="approved", written_at=now, reviewed_at=now
        )


def remove_first_replies(apps, schema_editor):
    rows = apps.get_model("qa_app", "SafetyReply").objects.using(schema_editor.connection.alias)
    rows.filter(route__in=TEXTS, version=1).delete()


class Migration(migrations.Migration):
    dependencies = [("qa_app", "0002_safety_replies")]

    operations = [migrations.RunPython(add_first_replies, remove_first_replies)]
