"""Share frames: which points of one turn may ask together, and under which fields."""

from __future__ import annotations

import msgspec

from .errors import DeclarationError


class Frame(msgspec.Struct, frozen=True):
    """
    How a point rides along with others of its share group.

    Points of one group, asked within one turn of one provider, share a call where the state
    fields that they have in common are equal.

    Attributes:
        group: Name of the share group.
        words: Under which field the words to be judged are sent, once for all; empty: under
            the point's own.
        merges: Fields that are mappings and go together key by key, while equal keys hold
            equal values.
        lists: Field under which differing words are listed, one entry for each ask; empty:
            asks about differing words do not share a call.
        alone: Never rides along.

    Raises:
        DeclarationError: No group; or words and their list have one field.

    """

    group: str
    words: str = ""
    merges: tuple[str, ...] = ()
    lists: str = ""
    alone: bool = False

    def __post_init__(self) -> None:
        if not self.group:
            raise DeclarationError("a share frame names its group")
        if self.lists and self.lists == self.words:
            raise DeclarationError(f"{self.group}: words and their list are two fields")
