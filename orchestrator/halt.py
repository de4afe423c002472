"""A run that ends because of its machines, such as a full disk: said in one line, and the same command goes on."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from orchestrator.group_commit import JournalUnwritable
from orchestrator.journal import is_the_disk
from results.location import StorageError

_DISK: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}


class RunHalted(OSError):
    """A disk is full or fails, or no worker can start: no fault of the run, and a later start goes on.

    What was committed stays, and nothing is half written.
    """


@contextmanager
def halting_for(run: str, journal: str) -> Iterator[None]:
    """Within, whatever the disk of the run at ``run`` or of its journal at ``journal`` refuses is a :class:`RunHalted`.

    What is wrong with something else stays what it is.
    """
    try:
        yield
    except JournalUnwritable as error:
        raise _halted(journal, str(error)) from error
    except sqlite3.OperationalError as error:
        if not is_the_disk(error):
            raise
        raise _halted(journal, f"the journal cannot be written: {error}") from error
    except (OSError, StorageError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError) or cause.errno not in _DISK:
            raise
        where = journal if str(cause.filename or "").startswith(journal) else run
        raise _halted(where, os.strerror(cause.errno)) from error


def _halted(where: str, why: str) -> RunHalted:
    return RunHalted(
        f"{where}: {why}; all that was committed is kept, and once this is mended the same command goes on"
    )
