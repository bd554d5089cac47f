import pgvector.django
import pgvector.django.halfvec
from django.db import migrations

# Approximate indexes are of the former type; `index_corpus --ann` makes them anew.
DROP_ANN = r"""
DO $$
DECLARE name text;
BEGIN
    FOR name IN
        SELECT indexname FROM pg_indexes
        WHERE schemaname = current_schema() AND tablename = 'corpus_app_passagevector' AND indexname LIKE 'vector\_ann\_%'
    LOOP
        EXECUTE format('DROP INDEX %I', name);
    END LOOP;
END $$
"""


class Migration(migrations.Migration):

    dependencies = [("corpus_app", "0003_finding_vectors")]

    operations = [
        migrations.RunSQL(DROP_ANN, DROP_ANN),
        migrations.AlterField(
            model_name="passagevector",
            name="vector",
            field=pgvector.django.halfvec.HalfVectorField(),
        ),
        migrations.RunSQL(
            "ALTER TABLE corpus_app_passagevector ALTER COLUMN vector SET STORAGE PLAIN",
            migrations.RunSQL.noop,
        ),
    ]
