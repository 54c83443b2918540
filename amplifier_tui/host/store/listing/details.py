"""What one stored session is about: read from its end, however long it is."""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import open_regular
from amplifier_tui.base.jsonl import Row, decode_row
from amplifier_tui.host.messages import is_from_hook, last_words, typed_prompt
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.host.store.listing.pins import pinned
from amplifier_tui.host.store.metadata import read_metadata
from amplifier_tui.host.store.sessions import card_of, children_of, is_held, lost_rows
from amplifier_tui.host.stored_cards import SessionDetails

_TAIL: Final = 4 * 1024 * 1024
"""Bytes of a transcript that are looked at, from its end."""
_LONGEST: Final = 4_000
"""Characters of a prompt or an answer."""


def details_of(
    folder: Path, agents_of: Callable[[Path], Iterable[Path]] = children_of
) -> SessionDetails:
    """Return what is known of the session in a folder, and what was said last.

    Args:
        agents_of: Finds the folders of its sub-agents.

    Raises:
        OSError: It is gone.
    """
    card = card_of(folder, (folder / TRANSCRIPT).stat().st_mtime)
    metadata = read_metadata(folder)
    agents = tuple(path.name for path in agents_of(folder))
    prompt, answer = last_exchange(folder)
    pins_it, held = folder.name in pinned(), is_held(folder)
    return SessionDetails(
        card=replace(card, agent_count=len(agents), pinned=pins_it, held=held),
        created=metadata.created,
        provider=metadata.provider,
        agents=agents,
        parent_id=metadata.parent_id,
        prompt=prompt,
        answer=answer,
    )


def last_exchange(folder: Path) -> tuple[str, str]:
    """Return the last prompt of a session and the last words after it, cut and without secrets.

    Raises:
        OSError: It can't be read.
    """
    with open_regular(folder / TRANSCRIPT) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        lines = file.read(_TAIL).split(b"\n")
    rows: list[Row] = []
    prompt = ""
    # Of the first line there may be the end only; then it is no row.
    stored = (decode_row(line) for line in reversed(lines) if line)
    for row in chain(reversed(lost_rows(folder)), stored):
        if row is not None:
            rows.append(row)
            if row.get("role") == "user" and not is_from_hook(row):
                prompt = typed_prompt(row)
                break
    mask = Redactor().text
    cut = (mask(text[: 2 * _LONGEST])[:_LONGEST] for text in (prompt, last_words(rows[::-1])))
    return next(cut), next(cut)
