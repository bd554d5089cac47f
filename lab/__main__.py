"""Run a command of the lab: `python -m lab bench`, `python -m lab measure retrieval ...`."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lab.settings")
    from inform_site.commandline import execute

    execute(sys.argv)
