"""The prompts that wait for the running turn to end, in memory and on disk."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from amplifier_tui.host.store.queue_file import QueueFile
from amplifier_tui.host.turns.prompts import Prompt


class WaitingPrompts:
    """A list of prompts, first to be sent first; each is named by its `prompt_id`.

    Args:
        redact: Takes secrets out of what is written.
        changed: Called when the user has changed the list.
    """

    def __init__(
        self, file: QueueFile, redact: Callable[[str], str], changed: Callable[[], None]
    ) -> None:
        self._file = file
        self._redact = redact
        self._changed = changed
        self._prompts: list[Prompt] = []
        self._left: list[Mapping[str, Any]] = []

    def __len__(self) -> int:
        return len(self._prompts)

    def __iter__(self) -> Iterator[Prompt]:
        return iter(self._prompts)

    def insert(self, at: int, prompt: Prompt) -> None:
        """Put a prompt before the one at a place; behind all where there is none."""
        self._prompts.insert(at, prompt)

    def take(self, prompt_id: str = "") -> Prompt | None:
        """Take a prompt out, the first without an id; None when it is gone."""
        at = self._place(prompt_id) if prompt_id else 0 if self._prompts else None
        return None if at is None else self._prompts.pop(at)

    def drop(self, prompt_id: str) -> None:
        """Take a prompt out for good."""
        if prompt_id and self.take(prompt_id) is not None:
            self._changed()

    def edit(self, prompt_id: str, text: str) -> None:
        """Give a prompt other words; without any it is dropped."""
        at = self._place(prompt_id)
        if not text.strip():
            self.drop(prompt_id)
        elif at is not None:
            self._prompts[at] = self._prompts[at].with_text(text)
            self._changed()

    def move(self, prompt_id: str, to: int) -> None:
        """Give a prompt another place, counted from 0."""
        at = self._place(prompt_id)
        if at is not None:
            self.insert(max(0, to), self._prompts.pop(at))
            self._changed()

    def save(self, steering: Iterable[str], arriving: Iterable[Prompt] = ()) -> None:
        """Write what waits; messages that steer the turn come first, were it to end now.

        Args:
            arriving: What the engine has not taken up, behind what waits.
        """
        prompts = [*map(Prompt, steering), *self._prompts, *arriving]
        self._file.save([self._stored(each) for each in prompts] + self._left)

    def _stored(self, prompt: Prompt) -> dict[str, Any]:
        stored: dict[str, Any] = {
            "text": self._redact(prompt.text),
            "attachments": list(prompt.attachments),
            "id": prompt.prompt_id,
        }
        if prompt.typed is not None:
            stored["typed"] = self._redact(prompt.typed)
        return stored

    def leave(self) -> None:
        """Send nothing of what waited when the session was left, and keep it stored."""
        self._left = self._file.load()

    def restore(self) -> None:
        """Have wait again what waited when the session was left."""
        for stored in self._file.load():
            text, attached, typed = map(stored.get, ("text", "attachments", "typed"))
            if isinstance(text, str) and text.strip():
                names = attached if isinstance(attached, list) else []
                typed = None if typed is None else str(typed)
                self._prompts.append(Prompt(text, tuple(map(str, names)), typed=typed))

    def _place(self, prompt_id: str) -> int | None:
        found = (at for at, each in enumerate(self._prompts) if each.prompt_id == prompt_id)
        return next(found, None)
