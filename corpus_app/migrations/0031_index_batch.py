"""The batches that several workers embed at once."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('corpus_app', '0030_approximate_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='IndexBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.CharField(help_text='Machine, process and thread.', max_length=200)),
                ('studies', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), help_text='Primary keys: other workers leave them alone meanwhile.', size=None)),
                ('passages', models.PositiveIntegerField(help_text='0: short texts.')),
                ('claimed_at', models.DateTimeField()),
                ('done_at', models.DateTimeField(db_index=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'index batches',
                'ordering': ['pk'],
                'default_permissions': (),
            },
        ),
    ]
