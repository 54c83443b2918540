"""Large pastes stand in the draft as a chip, `[Pasted 2,031 lines]`, and are sent in full."""

LINES = 8
"""A paste with more lines than this becomes a chip."""
CHARACTERS = 1_000
"""So does one with more characters than this."""


def is_large(text: str) -> bool:
    """Return whether a paste is better shown as a chip."""
    return len(text) > CHARACTERS or text.count("\n") >= LINES


class Chips:
    """The chips of one draft.

    Attributes:
        texts: Label to the text it stands for.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Keep `text` and return the label that stands for it; equal texts share one."""
        for label, known in self.texts.items():
            if known == text:
                return label
        lines = text.count("\n") + 1
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        label, number = f"[Pasted {size}]", 1
        while label in self.texts:
            number += 1
            label = f"[Pasted {size} #{number}]"
        self.texts[label] = text
        return label

    def expand(self, draft: str) -> str:
        """Return the draft with every label replaced by its text, in one pass.

        Labels that occur inside a pasted text are left alone.
        """
        if not self.texts:
            return draft
        parts: list[str] = []
        at = 0
        while True:
            found = [
                (where, label) for label in self.texts if (where := draft.find(label, at)) >= 0
            ]
            if not found:
                return "".join([*parts, draft[at:]])
            where, label = min(found)
            parts += [draft[at:where], self.texts[label]]
            at = where + len(label)

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return the start and end of every label in a line."""
        spans: list[tuple[int, int]] = []
        for label in self.texts:
            at = line.find(label)
            while at >= 0:
                spans.append((at, at + len(label)))
                at = line.find(label, at + len(label))
        return spans
