"""The commands, a module each: ``python -m jobs.NAME``."""

import sys

if sys.argv[:1] == ["-m"]:
    # So Python names itself while it looks for the module of a command. All that the command imports comes after this.
    from jobs.early import begin_imports

    begin_imports()
