"""Which way a change of an outcome is a benefit: the values that the code had until now, for concepts that are there already."""

from django.db import migrations, models

MORE = """
    adherence bone-area bone-mineral-density cardiorespiratory-fitness chair-stand-test cognition
    endurance-performance flexibility gait-speed handgrip-strength hypertrophy insulin-sensitivity
    isokinetic-strength isometric-strength lean-mass lower-body-strength maximal-oxygen-uptake muscle-cross-sectional-area
    muscle-fiber-hypertrophy muscle-mass muscle-power muscle-quality muscle-strength muscular-endurance
    one-repetition-maximum physical-function quality-of-life recovery sprint-performance swimming-performance
    upper-body-strength
""".split()
LESS = """
    adverse-events arterial-stiffness blood-glucose blood-pressure body-fat cardiometabolic-risk
    falls fractures inflammation muscle-damage muscle-soreness timed-up-and-go
    visceral-fat weight-loss
""".split()


def fill(apps, schema_editor):
    concepts = apps.get_model("corpus_app", "Concept").objects
    concepts.filter(pk__in=MORE).update(wanted="more")
    concepts.filter(pk__in=LESS).update(wanted="less")


class Migration(migrations.Migration):

    dependencies = [
        ("corpus_app", "0006_kept_sentence_vectors"),
    ]

    operations = [
        migrations.AddField(
            model_name="concept",
            name="wanted",
            field=models.CharField(
                choices=[("more", "more"), ("less", "less"), ("neither", "neither")],
                default="neither",
                help_text="Of an outcome: whether more of it is a benefit (strength) or less (body fat). Says where studies stand that found a rise or a fall.",
                max_length=10,
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="concept",
            constraint=models.CheckConstraint(condition=models.Q(("wanted__in", ["more", "less", "neither"])), name="concept_wanted_known"),
        ),
    ]
