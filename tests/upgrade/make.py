"""Makes the backup of a small site by the release that is checked out: `python -m tests.upgrade.make`, once for each release.

The later releases restore it (test_upgrade.py). A backup is never made anew once its release is out.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from inform_site import __version__

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(__file__).with_name(f"{__version__}.tar")
KEY = "the key of the site whose backup the tests restore"
QUESTION = "how deep do peas go"
FILL = f"""
from datetime import timedelta
from django.utils import timezone
from inform_site.models import QueueBeat
from qa_app.answers import asking
from qa_app.following import followers
answer = asking.ask(question={QUESTION!r})
followers.follow_by_feed(answer["id"])
QueueBeat.objects.create(queue="index", beat_at=timezone.now())
"""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="inform-release-") as folder:
        Path(folder).chmod(0o711)
        own = {
            "INFORM_DATA_DIR": folder, "CORPUS": "garden", "SECRET_KEY": KEY, "HF_HUB_OFFLINE": "1",
            "DJANGO_SUPERUSER_USERNAME": "curator", "DJANGO_SUPERUSER_PASSWORD": "tomatoes-and-beans",
            "DJANGO_SUPERUSER_EMAIL": "curator@example.org",
        }  # fmt: skip
        for command in (
            ["prepare"], ["index_corpus"], ["createsuperuser", "--no-input"], ["shell", "-c", FILL],
            ["apikey", "make", "tests"], ["backup", str(TARGET)],
        ):  # fmt: skip
            subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=os.environ | own, check=True)


if __name__ == "__main__":
    main()
