"""A message with everything that measuring and planning ask of it, read once; and who put it there.

Who put it there is a function of the message, not bookkeeping beside it: so every consumer agrees.
"""

from collections.abc import Mapping, MutableMapping
from dataclasses import field
from typing import Any, Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.context_file import without_contents
from amplifier_tui.base.messages.tool_calls import answers_of, calls_of
from amplifier_tui.base.tokens import message_tokens
from amplifier_tui.context.compaction.shorten import shortened

Row = Mapping[str, Any]
"""A kernel message: ``role``, ``content`` and what belongs to them (spec 000)."""

Decision = Literal["truncate", "stub", "squeeze", "drop"]
"""What compaction does to a row: cut a tool result short; cut an old message of the user short;
cut to a length that still says something; leave out."""

KEEP: Final[dict[Decision, int]] = {"truncate": 300, "stub": 200, "squeeze": 4_000}
"""Characters that stay of a row that is cut."""

_THINKING: Final = ("thinking", "redacted_thinking", "reasoning")


@dataclass(slots=True, eq=False)
class Entry:
    """One row of a ledger, or of a request in the making. Nothing changes it once it is made.

    Attributes:
        message: The message.
        tokens: Estimate of its tokens.
        key: Its name for sticky decisions; the same in every request.
        role: "system", "user", "assistant" or "tool".
        source: Who put it there.
        calls: Ids of its tool calls.
        answers: Ids of the calls whose results it holds.
        own: Whether these are the user's own words.
        thinks: Whether it is nothing but the assistant's reasoning.
        provided: Whether a context provider added it for this turn.
        turn: Number of the turn it belongs to.
        seq: Its row in the ledger; -1 for what is not from there.
        parts: For a system prompt, the tokens by source.
    """

    message: Row
    tokens: int
    key: str
    role: str
    source: str
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    own: bool = False
    thinks: bool = False
    provided: bool = False
    turn: int = 0
    seq: int = -1
    parts: tuple[tuple[str, int], ...] = ()
    _cut: dict[Decision, int] = field(default_factory=dict, repr=False)

    @property
    def base(self) -> str:
        """Key of the row it comes from, where it stands in the place of one."""
        return str(self.seq) if self.seq >= 0 else self.key

    def under(self, decision: Decision | None) -> Row:
        """Return the message as a decision other than "drop" leaves it."""
        return self.message if decision is None else shortened(self.message, KEEP[decision])

    def tokens_under(self, decision: Decision | None) -> int:
        """Return the tokens a decision leaves."""
        if decision is None:
            return self.tokens
        if decision == "drop":
            return 0
        known = self._cut.get(decision)
        if known is None:
            known = self._cut[decision] = message_tokens(self.under(decision))
        return known


def read_entry(
    message: Row,
    key: str,
    tool_names: MutableMapping[str, str],
    *,
    turn: int = 0,
    seq: int = -1,
    provided: bool = False,
) -> Entry:
    """Read a message; the names of its tool calls are added to ``tool_names``, by call id.

    The other arguments are fields of the `Entry`.
    """
    role = str(message.get("role") or "")
    content = message.get("content")
    calls: tuple[str, ...] = ()
    answers = answers_of(message)
    if role == "assistant":
        named = [(call.call_id, call.name) for call in calls_of(message)]
        tool_names.update((call_id, name) for call_id, name in named if name)
        calls = tuple(call_id for call_id, _ in named)
    elif role == "function":
        role = "tool"
    # Nothing but results: the user's role, and not the user's words.
    inline = bool(answers) and isinstance(content, list) and len(answers) == len(content)
    return Entry(
        message=message,
        tokens=message_tokens(message),
        key=key,
        role="system" if role == "developer" else role,
        source=source_of(message, tool_names),
        calls=calls,
        answers=answers,
        own=role == "user" and not (provided or inline or _is_made(message)),
        thinks=role == "assistant" and not calls and _only_thinks(content),
        provided=provided,
        turn=turn,
        seq=seq,
    )


def is_from_hook_or_file(message: Row) -> bool:
    """Whether a hook put the message there, or it is a file that a context manager was given."""
    metadata = message.get("metadata")
    if not isinstance(metadata, Mapping):
        return False
    attribution = metadata.get(ATTRIBUTION)
    source = attribution.get("source_id") if isinstance(attribution, Mapping) else None
    return metadata.get("source") == "hook" or str(source).startswith("file:")


def _is_made(message: Row) -> bool:
    """Whether a program put the message there: a hook, a provider, compaction."""
    metadata = message.get("metadata")
    return isinstance(metadata, Mapping) and (
        metadata.get("source") in ("hook", COMPACTION) or ATTRIBUTION in metadata
    )


def _only_thinks(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(block, Mapping) and block.get("type") in _THINKING for block in content)
    )


ATTRIBUTION: Final = "_attribution"
"""Key under which a message carries its source (ADR 0016); in it or in its metadata."""

COMPACTION: Final = "compaction"
"""Source of what compaction itself says."""

DIFFERENCE: Final = "above our estimate"
"""The provider's count less the estimate, where it counted more: a source of its own."""

_ROLES: Final = {"developer": "system", "function": "tool"}


def source_of(message: Mapping[str, Any], tool_names: Mapping[str, str] | None = None) -> str:
    """Return the id of the source a kernel message comes from.

    Args:
        message: The message.
        tool_names: Tool names by call id, for results that do not name their tool.

    Returns:
        The marked source; `hook:<name>` for what a hook added; else by its role `user`,
        `assistant`, `system` or `tool:<name>`.
    """
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    for place in (message, metadata):
        mark = place.get(ATTRIBUTION)
        source = mark.get("source_id") if isinstance(mark, Mapping) else None
        if isinstance(source, str) and source:
            return source
    if metadata.get("source") == "hook":
        hook = metadata.get("hook_name")
        return f"hook:{hook if isinstance(hook, str) and hook else 'unknown'}"
    if metadata.get("source") == COMPACTION:
        return COMPACTION
    role = str(message.get("role") or "")
    role = _ROLES.get(role, role)
    if role == "tool":
        name = message.get("name")
        if not isinstance(name, str) or not name:
            name = (tool_names or {}).get(str(message.get("tool_call_id")))
        return f"tool:{name}" if name else "tool"
    return role or "no role"


def beginning_of(message: Row) -> str:
    """Return how a message begins, in one line; the names of its calls where it has no words."""
    content = message.get("content")
    texts: list[str] = []
    for block in content if isinstance(content, list) else [content]:
        said = block
        if isinstance(block, Mapping):
            said = block.get("text") or block.get("thinking") or block.get("content")
        if isinstance(said, str) and said.strip():
            texts.append(without_contents(said)[:_PEEK])
    words = " ".join(texts) or ", ".join(call.name for call in calls_of(message))
    return " ".join(words[:_PEEK].split())


_PEEK: Final = 200
