"""One module for each agent framework; each is imported by its users, and by nothing here."""

from __future__ import annotations


def needs(extra: str, library: str) -> ImportError:
    """Make the error of a module whose framework is not installed: it names the extra."""
    return ImportError(f"This needs {library}: pip install 'pointsman[{extra}]'")
