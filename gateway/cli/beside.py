"""The journal that is kept where no variable names one: in the folder of the project."""

from __future__ import annotations

import os
from pathlib import Path

HERE = "sqlite:///.pointsman/journal.db"  # in the folder of the project that it is about
FILE = Path(".pointsman", "journal.db")


def takes() -> bool:
    """Whether a journal can be kept here, without trying it."""
    folder = FILE.parent if os.path.lexists(FILE.parent) else Path()
    return os.access(folder, os.W_OK | os.X_OK)


def there() -> bool:
    """Whether there is a journal; there may be one where nobody may look."""
    try:
        os.lstat(FILE)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
