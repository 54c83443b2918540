"""A session whose providers and tools answer from a cassette."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    CassettePart,
    TapedAnswer,
    TapedCall,
    TapedFault,
    TapedRequest,
    TapedSide,
    TapedSteer,
    TapedSystem,
    TapedTools,
)
from amplifier_tui.host.cassettes.names import RunNames, digest, run_names, texts_changed
from amplifier_tui.host.cassettes.provider import PlayedProvider
from amplifier_tui.host.cassettes.workspace import (
    Digests,
    changed_files,
    copy_workspace,
    digests_of,
)
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.host.gate.gate import OUTSIDE_SANDBOX
from amplifier_tui.host.gate.modes import AGENT_TOOLS
from amplifier_tui.host.messages import text_of
from amplifier_tui.host.stand_in import StandIn
from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.message_models import ChatRequest, Message
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.kernel.session import AmplifierSession
from amplifier_tui.kernel.session.grant import Grant, current_grant, granted

ToolsFrom = Literal["cassette", "real"]

_TOLD: Final = 20_000
"""Characters of a text that are kept of what a request tells the model."""
_REAL: Final = frozenset({"command", "read", "write", "edit", "patch"})
_NEVER_RAN: Final = frozenset({"denied", "stopped", "invalid_arguments", "unknown_tool"})
"""Why a loop ends calls without having run them."""
_NO_RESULT: Final = "The cassette holds no result of this call."


class _SeenMessage(NamedTuple):
    """A message of a request. The same one comes again with every later request."""

    message: Message
    text: str
    digest: str
    tokens: int


@dataclass(slots=True)
class _PlayedLane:
    """Where an agent is in the cassette.

    Attributes:
        run: What the ids of its answers begin with.
        turn: The turn the count of its answers belongs to.
        last: The id of its last answer.
        before: The messages of its last request.
    """

    run: str = ""
    turn: int = 0
    answers: int = 0
    last: str = ""
    before: list[_SeenMessage] = field(default_factory=list)


class Playback:
    """Stands in for the providers of a session and of its agents, and for their tools.

    Args:
        tools: Whether tools answer from the cassette, or run in the workspace. Then only such run
            as read or change its files, and commands in a sandbox without a network.
        folder: Where the session is stored.
        workspace: What real tools work in a copy of; None for where its bundle has it work.

    Attributes:
        turn: The turn that runs.
        requests: What the requests held.
        missed: What was asked of the cassette that it does not hold.
        steer, interrupt: Say something to the running turn, and stop it.
    """

    def __init__(
        self,
        cassette: Cassette,
        *,
        folder: Path,
        tools: ToolsFrom = "cassette",
        workspace: Path | None = None,
    ) -> None:
        self.folder = folder
        self.tools = tools
        self._template = workspace
        self._place = folder
        self._workspace: Path | None = None
        self._files: Digests = {}
        self.turn = 0
        self.requests: list[CassettePart] = []
        self.missed: list[str] = []
        self.steer: Callable[[str], object] = lambda _: None
        self.interrupt: Callable[[], object] = lambda: None
        self.names = RunNames({})
        self._providers = cassette.header.providers
        self._answers = {each.id: each for each in cassette.of(TapedAnswer)}
        self._calls = {each.id: each for each in cassette.of(TapedCall)}
        self._steers = {each.id: each.text for each in cassette.of(TapedSteer)}
        self._sides: dict[str, deque[str]] = defaultdict(deque)
        for side in cassette.of(TapedSide):
            self._sides[side.id.rpartition("s")[0]].append(side.text)
        self._lanes: dict[str, _PlayedLane] = {}
        self._runs: dict[str, int] = defaultdict(int)
        self._shown: set[tuple[str, str]] = set()

    def begin(self, folder: Path, project: Path) -> Path:
        """Return where the session works; where tools are real, that is always a copy.

        Raises:
            OSError: It can't be made.
        """
        if self.tools == "real":
            # What a bundle brings has been copied for this session.
            if self._template is not None or folder == project:
                scratch = self.folder.with_name("workspace")
                folder = copy_workspace(self._template or folder, scratch)
            self._workspace = folder
            self._files = digests_of(folder)
        self._place = folder
        self.names = run_names(str(folder), str(project), self.folder)
        return folder

    def opened(self, session: AmplifierSession) -> None:
        """Confine what prompts mention to the workspace: they may not be the user's words."""
        coordinator = session.coordinator
        resolver = coordinator.get_capability("mention_resolver")
        if resolver is not None:
            coordinator.register_capability("mention_resolver", _ConfinedMentions(resolver))

    def changed(self) -> Digests | None:
        """Return what real tools have changed in the workspace; None where tools are not real."""
        if self._workspace is None:
            return None
        return changed_files(self._files, digests_of(self._workspace))

    def attachments(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the files of the workspace among those that were attached to a prompt."""
        found = []
        for name in map(self.names.put_in, names):
            if (self._place / name).resolve().is_relative_to(self._place.resolve()):
                found.append(name)
            else:
                self.missed.append(f"attachment {name}")
        return tuple(found)

    async def stand_in(self, session: AmplifierSession, lane: str) -> None:
        """Answer the requests of a session, from before its first module is mounted."""
        place = self._lanes.setdefault(lane, _PlayedLane())
        if lane != MAIN_LANE:
            call = current_tool_call_id() or f"{self.turn}.a"
            self._runs[call] += 1
            number = self._runs[call]
            run = f"{call}#{number}" if number > 1 else call
            self.names.agent(lane, run)
            self._lanes[lane] = place = _PlayedLane(run=f"{run}/", turn=self.turn)
        session.config["providers"] = []
        for name, facts in self._providers.items():
            played = PlayedProvider(name, facts, session.coordinator, self, lane)
            await session.coordinator.mount("providers", played, name=name)
        place.before.clear()

    # --- requests --------------------------------------------------------------------------

    def answer(self, lane: str, request: ChatRequest) -> tuple[str, TapedAnswer]:
        """Return the answer to the next request of an agent, and its id.

        Raises:
            LLMError: The cassette holds none.
        """
        place = self._lanes[lane]
        if lane == MAIN_LANE and place.turn != self.turn:
            place.turn, place.answers, place.run = self.turn, 0, f"{self.turn}."
        place.answers += 1
        name = f"{place.run}{place.answers}"
        self._note(name, place, request)
        found = self._answers.get(name)
        if found is None:
            self.missed.append(name)
            raise llm_errors.LLMError(
                f"The cassette holds no answer {name}: the session asks once more than it did",
                retryable=False,
            )
        return name, found

    def side(self, lane: str) -> str:
        """Return the next answer that an agent got on the side.

        Raises:
            LLMError: The cassette holds none.
        """
        left = self._sides["" if lane == MAIN_LANE else self._lanes[lane].run]
        if not left:
            raise llm_errors.LLMError("The cassette holds no such answer", retryable=False)
        return left.popleft()

    def answered(self, lane: str) -> None:
        """Say what the user said after the last answer, before the next one."""
        place = self._lanes[lane]
        text = self._steers.get(f"{place.run}{place.answers + 1}")
        if text is not None:
            self.steer(self.names.put_in(text))

    def fault_of(self, call: str) -> str:
        """Return what was wrong with the arguments of a call, as the model wrote them."""
        error = self._calls[call].error if call in self._calls else None
        return error.msg if error is not None and error.type == "invalid_arguments" else ""

    async def stopped(self) -> None:
        """Stop the turn, as it was stopped here; does not return."""
        self.interrupt()
        await asyncio.Event().wait()

    def _note(self, name: str, place: _PlayedLane, request: ChatRequest) -> None:
        """Keep what a request holds that the one before it did not."""
        seen = self._seen(place.before, request.messages)
        system = [each.text for each in seen if each.message.role in ("system", "developer")]
        others = [each for each in seen if each.message.role not in ("system", "developer")]
        earlier = [
            each for each in place.before if each.message.role not in ("system", "developer")
        ]
        place.before = seen
        shared = min(len(earlier), len(others))
        pairs = enumerate(zip(earlier, others, strict=False))
        known = next((at for at, (old, new) in pairs if old.digest != new.digest), shared)
        told: list[str] = []
        digests: dict[str, str] = {}
        fresh = others[known:]
        # What is left of a conversation that was made smaller can't be told from its places.
        only = sum(each.message.role == "assistant" for each in fresh) == 1 and place.last
        for number, each in enumerate(fresh, start=known + 1):
            match each.message.role:
                case "user":
                    told.append(each.text[:_TOLD])
                case "tool":
                    digests[str(each.message.tool_call_id)] = each.digest
                case _:
                    digests[only or f"message {number}"] = each.digest
        place.last = name
        prompt = "\n\n".join(system)
        offered = {
            tool.name: digest([self._hidden_json(tool.model_dump(mode="json"))])
            for tool in request.tools or ()
        }
        self.requests.append(
            TapedRequest(
                id=name,
                system=self._once(TapedSystem, prompt, {"text": prompt}),
                tools=self._once(TapedTools, json.dumps(offered), {"tools": offered}),
                told=told,
                seen=digests,
                tokens=sum(each.tokens for each in seen),
            )
        )

    def _seen(self, before: list[_SeenMessage], messages: Sequence[Message]) -> list[_SeenMessage]:
        """Return the messages of a request; what is known of them is not worked out again."""
        found: list[_SeenMessage] = []
        for number, message in enumerate(messages):
            if number < len(before) and before[number].message is message:
                found.append(before[number])
                continue
            text = self.names.hidden(_said(message))
            found.append(
                _SeenMessage(message, text, digest([message.role, text]), text_tokens(text))
            )
        return found

    def _hidden_json(self, data: Any) -> str:
        return self.names.hidden(json.dumps(data, sort_keys=True))

    def _once(self, kind: type[TapedSystem | TapedTools], text: str, fields: Any) -> str:
        """Keep what many requests have in common, and return its id."""
        name = digest([text])
        if (kind.__name__, name) not in self._shown:
            self._shown.add((kind.__name__, name))
            self.requests.append(kind(id=name, **fields))
        return name

    # --- tools -----------------------------------------------------------------------------

    async def execute(
        self,
        name: str,
        tool: Any,
        arguments: Mapping[str, Any],
        run: Callable[[], Awaitable[Any]],
    ) -> Any:
        """Give the result of a call that the gate has let through.

        Args:
            run: Runs the tool. It does where an agent is called, and in a real workspace.
        """
        if name in AGENT_TOOLS:
            return await run()
        call = self._calls.get(current_tool_call_id() or "")
        if self.tools == "real" and self._may_run(name, tool, arguments):
            terms = current_grant() or Grant("mode")
            # Nobody looks at it: it gets no more than a sandbox gives.
            with granted(replace(terms, by="mode", network=False)):
                return await run()
        if call is not None and call.result is not None:
            return self._result(call.result)
        fault = call.error if call is not None else None
        if fault is not None and fault.type == "interrupted":
            await self.stopped()
        if fault is None or fault.type in _NEVER_RAN:
            self.missed.append(f"call {current_tool_call_id()}")
            return ToolResult(success=False, error={"type": "replay", "message": _NO_RESULT})
        raise _fault(name, fault, self.names.put_in(fault.msg))

    def _result(self, result: Mapping[str, Any]) -> ToolResult:
        fields = texts_changed(result, self.names.put_in)
        known = {key: fields[key] for key in ToolResult.model_fields if fields.get(key) is not None}
        return ToolResult.model_validate({"success": True, **known})

    def _may_run(self, name: str, tool: Any, arguments: Mapping[str, Any]) -> bool:
        """Whether a call does no more than read and change files of the workspace."""
        from amplifier_tui.host.gate.describe import read_subject
        from amplifier_tui.host.gate.risk import locate

        subject = read_subject(name, arguments)
        root = self._workspace
        if root is None or subject.kind not in _REAL or arguments.get(OUTSIDE_SANDBOX):
            return False
        if subject.kind == "command":
            schema = getattr(tool, "input_schema", None) or {}
            return OUTSIDE_SANDBOX in (schema.get("properties") or {})
        places = [locate(path, root) for path in subject.paths]
        return not any(place.outside or place.secret for place in places)


def _fault(tool: str, fault: TapedFault, message: str) -> Exception:
    """Return what a tool raised: a loop says of it `TOOL failed: TYPE: MESSAGE`."""
    kind = fault.type if fault.type.isidentifier() else Exception.__name__
    made: type[Exception] = type(kind, (Exception,), {})
    return made(message.removeprefix(f"{tool} failed: {fault.type}: "))


class _ConfinedMentions(StandIn):
    """A resolver of mentions in texts that are not the user's."""

    __slots__ = ()

    def resolve(self, mention: str) -> Path | None:
        """Return the file a mention names, if such a text may name it."""
        found: Path | None = self._other.resolve_confined(mention)
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


def replayed(requests: Iterable[CassettePart], rows: Iterable[Any]) -> list[Any]:
    """Return the rows of a replay with what its requests held before the answers to them."""
    waiting = list(requests)
    found: list[Any] = []
    for row in rows:
        if isinstance(row, TapedAnswer):
            at = next((n for n, each in enumerate(waiting) if _is_of(each, row.id)), -1)
            found += waiting[: at + 1]
            del waiting[: at + 1]
        found.append(row)
    return [*found, *waiting]


def _is_of(part: CassettePart, name: str) -> bool:
    return isinstance(part, TapedRequest) and part.id == name
