#!/usr/bin/env python
"""Django's command line, with the embedded database started for the commands that need one."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")
    from inform_site.commandline import execute

    execute(sys.argv)


if __name__ == "__main__":
    main()
