"""A session of another program as a text to be read."""

from typing import Final

from amplifier_tui.host.imported_cards import ImportedText
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.requests import ExportRequest
from amplifier_tui.host.store.export.markdown import MarkdownForm
from amplifier_tui.host.store.export.masking import Masking
from amplifier_tui.host.store.export.parts import PartReader
from amplifier_tui.host.store.imported.origins import ImportedFile
from amplifier_tui.host.store.imported.reading import imported_card, imported_rows

_MOST: Final = 200_000
"""Characters of a text."""


def imported_text(file: ImportedFile, most: int = _MOST) -> ImportedText:
    """Return a conversation as Markdown, without secrets; blocking.

    Args:
        most: Characters, and what is begun; the rest is left out.

    Raises:
        OSError: It can't be read.
    """
    redactor = Redactor()
    reader = PartReader(ExportRequest(path="", thinking=True), Masking(redactor))
    form, parts, length = MarkdownForm(), list[str](), 0
    for row in imported_rows(file):
        if length >= most:
            break
        for part in reader.parts(row):
            parts.append(form.part(part))
            length += len(parts[-1])
    text = "".join(parts).strip()
    return ImportedText(card=imported_card(file, redactor), text=text[:most], cut=length >= most)
