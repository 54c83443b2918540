"""What the requests of a replay hold: the prompt, the tools, what is new in the conversation."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from amplifier_tui.base.tokens import message_tokens, schema_tokens
from amplifier_tui.host.cassettes.cassette import (
    CassettePart,
    TapedAnswer,
    TapedRequest,
    TapedSystem,
    TapedTools,
)
from amplifier_tui.host.cassettes.names import RunNames, digest, texts_changed
from amplifier_tui.host.messages import text_of
from amplifier_tui.kernel.message_models import ChatRequest, Message

_TOLD: Final = 20_000
"""Characters of a text that are kept of what a request tells the model."""


class SeenMessage(NamedTuple):
    """A message of a request. The same one comes again with every later request."""

    message: Message
    text: str
    digest: str
    tokens: int

    @property
    def is_system(self) -> bool:
        """Whether it is part of the system prompt."""
        return self.message.role in ("system", "developer")


class RequestNotes:
    """Keeps what each request holds that the one before it in its lane did not."""

    def __init__(self) -> None:
        self._parts: list[CassettePart] = []
        self._known: set[tuple[str, str]] = set()

    def note(
        self,
        name: str,
        request: ChatRequest,
        before: Sequence[SeenMessage],
        last: str,
        names: RunNames,
    ) -> list[SeenMessage]:
        """Note a request.

        Args:
            name: The id of the answer it will get.
            before: The messages of the request before.
            last: The id of the answer to that; empty where there was none.

        Returns:
            Its messages.
        """
        seen = _seen(before, request.messages, names)
        others = [each for each in seen if not each.is_system]
        earlier = [each for each in before if not each.is_system]
        pairs = enumerate(zip(earlier, others, strict=False))
        shared = min(len(earlier), len(others))
        known = next((at for at, (old, new) in pairs if old.digest != new.digest), shared)
        fresh = others[known:]
        # What is left of a conversation that was made smaller can't be told from its places.
        only = sum(each.message.role == "assistant" for each in fresh) == 1 and last
        digests: dict[str, str] = {}
        for number, each in enumerate(fresh, start=known + 1):
            if each.message.role == "tool":
                digests[str(each.message.tool_call_id)] = each.digest
            elif each.message.role != "user":
                digests[only or f"message {number}"] = each.digest
        prompt = "\n\n".join(each.text for each in seen if each.is_system)
        tools = [tool.model_dump(mode="json") for tool in request.tools or ()]
        offered = {tool["name"]: digest([names.hidden(json.dumps(tool))]) for tool in tools}
        # They are read again with every request, and can be most of it.
        schemas = sum(schema_tokens(texts_changed(tool, names.hidden)) for tool in tools)
        self._parts.append(
            TapedRequest(
                id=name,
                system=self._once(TapedSystem, prompt, text=prompt),
                tools=self._once(TapedTools, json.dumps(offered), tools=offered),
                told=[each.text[:_TOLD] for each in fresh if each.message.role == "user"],
                seen=digests,
                tokens=schemas + sum(each.tokens for each in seen),
            )
        )
        return seen

    def _once(self, kind: type[TapedSystem | TapedTools], content: str, /, **fields: Any) -> str:
        """Keep what many requests have in common, and return its id."""
        name = digest([content])
        if (kind.__name__, name) not in self._known:
            self._known.add((kind.__name__, name))
            self._parts.append(kind(id=name, **fields))
        return name

    def among(self, rows: Iterable[Any]) -> list[Any]:
        """Return rows with what was noted, each request before the answer to it."""
        waiting = list(self._parts)
        found: list[Any] = []
        for row in rows:
            if isinstance(row, TapedAnswer):
                at = next((n for n, each in enumerate(waiting) if _is_of(each, row.id)), -1)
                found += waiting[: at + 1]
                del waiting[: at + 1]
            found.append(row)
        return [*found, *waiting]


def _seen(
    before: Sequence[SeenMessage], messages: Sequence[Message], names: RunNames
) -> list[SeenMessage]:
    """Return the messages of a request; what is known of them is not worked out again."""
    found: list[SeenMessage] = []
    for number, message in enumerate(messages):
        if number < len(before) and before[number].message is message:
            found.append(before[number])
        else:
            text = names.hidden(_said(message))
            own = digest([message.role, text])
            plain = texts_changed(message.model_dump(mode="json"), names.hidden)
            found.append(SeenMessage(message, text, own, message_tokens(plain)))
    return found


def _said(message: Message) -> str:
    """Return a message as text: everything a model sees of it."""
    content = message.content
    if isinstance(content, str):
        return content
    blocks = [block.model_dump(mode="json", exclude_none=True) for block in content]
    if all(block.get("type") == "text" for block in blocks):
        return text_of(blocks)
    return json.dumps(blocks, ensure_ascii=False, sort_keys=True)


def _is_of(part: CassettePart, name: str) -> bool:
    return isinstance(part, TapedRequest) and part.id == name
