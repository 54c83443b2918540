"""Changes of a stored session's card; what other windows and programs write meanwhile stays."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from amplifier_tui.base.jsonl import Row
from amplifier_tui.host.store.metadata import FILE_NAME, Tell, update_metadata

TITLE_LENGTH: Final = 200
TAG_LENGTH: Final = 60
MOST_TAGS: Final = 50


def set_title(folder: Path, title: str, tell: Tell) -> None:
    """Give a session a title; an empty one takes it away. A window that has it open shows it.

    Args:
        tell: Told what was wrong with the metadata and what became of them.

    Raises:
        OSError: They can't be written; they are as they were.
    """
    name = " ".join(title.split())[:TITLE_LENGTH]
    update_metadata(folder / FILE_NAME, lambda there: {**there, "name": name}, tell)


def set_tags(folder: Path, add: Sequence[str], remove: Sequence[str], tell: Tell) -> None:
    """Give a session tags and take others away, as `set_title`."""
    named = (" ".join(tag.split())[:TAG_LENGTH] for tag in add)
    new = [tag for tag in dict.fromkeys(named) if tag]

    def change(there: Row) -> Row:
        listed = there.get("tags")
        known = listed if isinstance(listed, list) else []
        kept = [tag for tag in known if tag not in remove and tag not in new]
        return {**there, "tags": [*kept, *new][:MOST_TAGS]}

    update_metadata(folder / FILE_NAME, change, tell)
