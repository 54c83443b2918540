"""A session whose providers and tools answer from a cassette."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from amplifier_tui.base.capabilities.mcp import CAPABILITY as MCP_SERVERS
from amplifier_tui.base.files import images
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.sub_sessions import INTERRUPTED
from amplifier_tui.base.tool_names import AGENT_TOOLS
from amplifier_tui.host.cassettes.cassette import (
    Cassette,
    TapedAnswer,
    TapedCall,
    TapedFault,
    TapedSide,
    TapedSteer,
)
from amplifier_tui.host.cassettes.names import RunNames, run_names, texts_changed
from amplifier_tui.host.cassettes.order import TapedStops
from amplifier_tui.host.cassettes.provider import PlayedProvider
from amplifier_tui.host.cassettes.requests import RequestNotes, SeenMessage
from amplifier_tui.host.cassettes.workspace import (
    Digests,
    changed_files,
    copy_workspace,
    digests_of,
)
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.host.gate.gate import OUTSIDE_SANDBOX
from amplifier_tui.host.stand_in import StandIn
from amplifier_tui.kernel import events, llm_errors
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.correlation import current_tool_call_id
from amplifier_tui.kernel.hooks import HookTrace
from amplifier_tui.kernel.message_models import ChatRequest
from amplifier_tui.kernel.models import ToolResult, interrupted_with
from amplifier_tui.kernel.session import AmplifierSession
from amplifier_tui.kernel.session.grant import Grant, current_grant, granted

ToolsFrom = Literal["cassette", "real"]

_REAL: Final = frozenset({"command", "read", "write", "edit", "patch"})
_AGENT_ARGUMENTS: Final = frozenset({"agent", "instruction"})
"""A tool with the name of one that calls agents, but without these, does something else."""
_NEVER_RAN: Final = frozenset({"denied", "stopped", "invalid_arguments", "unknown_tool"})
"""Why a loop ends calls without having run them."""
_NO_RESULT: Final = "The cassette holds no result of this call."
_NOTHING_READ: Final = "A cassette reads nothing from MCP servers."


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
    before: list[SeenMessage] = field(default_factory=list)


class Playback:
    """Stands in for the providers of a session and of its agents, and for their tools.

    Args:
        tools: Whether tools answer from the cassette, or run in the workspace. Then only such run
            as read or change its files, and commands in a sandbox without a network.
        folder: Where the session is stored.
        workspace: A folder in whose copy it works; None for where its bundle has it work.

    Attributes:
        turn: The turn that runs.
        requests: What the requests held.
        missed: What was asked of the cassette that it does not hold.
        incomplete: The turns that asked for an answer that it does not hold.
        not_run: Where tools are real, by tool, the calls that did not run: nothing is known to
            keep them in the workspace.
        in_copy: Whether it works in a copy of its project, or in what stands for it.
        steer, interrupt: Say something to the running turn, and stop it.
        stop_agent: Stops the agent of a lane alone.
        stops: Where something was stopped.
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
        self.requests = RequestNotes()
        self.missed: list[str] = []
        self.incomplete: set[str] = set()
        self.not_run: dict[str, list[str]] = {}
        self.in_copy = False
        self.steer: Callable[[str], object] = lambda _: None
        self.interrupt: Callable[[], object] = lambda: None
        self.stop_agent: Callable[[str], object] = lambda _: None
        self.names = RunNames({})
        self._providers = cassette.header.providers
        self._answers = {each.id: each for each in cassette.of(TapedAnswer)}
        self._calls = {each.id: each for each in cassette.of(TapedCall)}
        self.stops = TapedStops(cassette)
        self._steers = {each.id: each.text for each in cassette.of(TapedSteer)}
        self._sides: dict[str, deque[str]] = defaultdict(deque)
        for side in cassette.of(TapedSide):
            self._sides[side.id.rpartition("s")[0]].append(side.text)
        self._lanes: dict[str, _PlayedLane] = {}
        self._runs: dict[str, int] = defaultdict(int)

    def begin(self, folder: Path, project: Path) -> Path:
        """Return where the session works; where tools are real, it is always a copy.

        Raises:
            OSError: It can't be made.
        """
        # What a bundle brings has been copied for this session.
        if self._template is not None or (self.tools == "real" and folder == project):
            scratch = self.folder.with_name("workspace")
            self.in_copy = folder == project
            folder = copy_workspace(self._template or folder, scratch)
        if self.tools == "real":
            self._workspace = folder
            self._files = digests_of(folder)
        self._place = folder
        self.names = run_names(str(folder), str(project), self.folder, in_copy=self.in_copy)
        return folder

    def opened(self, session: AmplifierSession) -> None:
        """Confine what prompts mention to the workspace: they may not be the user's words."""
        coordinator = session.coordinator
        confined = {"mention_resolver": _ConfinedMentions, MCP_SERVERS: _UnreadServers}
        for name, kind in confined.items():
            found = coordinator.get_capability(name)
            if found is not None:
                coordinator.register_capability(name, kind(found))

    def changed(self) -> Digests | None:
        """Return what real tools have changed in the workspace; None where tools are not real."""
        if self._workspace is None:
            return None
        return changed_files(self._files, digests_of(self._workspace))

    def attachments(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the images and the files of the workspace among what a prompt had attached."""
        from amplifier_tui.host.gate.places import locate

        found = []
        for name in map(self.names.put_in, names):
            if images.is_data_url(name) or not locate(name, self._place).outside:
                found.append(name)
            else:
                self.missed.append(f"attachment {name}")
        return tuple(found)

    async def stand_in(self, session: AmplifierSession, lane: str) -> None:
        """Answer the requests of a session, from before its first module is mounted."""
        if lane == MAIN_LANE:
            self._lanes[lane] = _PlayedLane()
        else:
            call = current_tool_call_id() or f"{self.turn}.a"
            self._runs[call] += 1
            number = self._runs[call]
            run = f"{call}#{number}" if number > 1 else call
            self.names.agent(lane, run)
            self._lanes[lane] = _PlayedLane(run=f"{run}/", turn=self.turn)
        session.coordinator.hooks.observe(partial(self._follow, lane, session.coordinator))
        session.config["providers"] = []
        for name, facts in self._providers.items():
            played = PlayedProvider(name, facts, session.coordinator, self, lane)
            await session.coordinator.mount("providers", played, name=name)

    def run(self, lane: str) -> str:
        """Return what runs in a lane, as ids begin with it: the turn, or the call of the agent."""
        return str(self.turn) if lane == MAIN_LANE else self._lanes[lane].run.removesuffix("/")

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
        place.before = self.requests.note(name, request, place.before, place.last, self.names)
        place.last = name
        found = self._answers.get(name)
        if found is None:
            self.missed.append(name)
            self.incomplete.add(str(self.turn))
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

    async def stopped(self, name: str) -> None:
        """Stop the turn, or an agent alone, as it was stopped here; does not return.

        Args:
            name: The id of the answer or the call that was broken off.
        """
        run = await self.stops.due(name)
        lane = next((each for each in self._lanes if self.run(each) == run), MAIN_LANE)
        if lane == MAIN_LANE:
            self.interrupt()
        else:
            self.stop_agent(lane)
        await asyncio.Event().wait()

    def _follow(self, lane: str, coordinator: ModuleCoordinator, trace: HookTrace) -> None:
        """Stop a lane in stages where it was: what runs there now is the last that does."""
        place = self._lanes[lane]
        answer = place.last
        match trace.event:
            case events.EXECUTION_START:
                name = answer = f"{self.turn}.0" if lane == MAIN_LANE else f"{place.run}0"
            case events.PROVIDER_RESPONSE:
                name = answer
            case events.TOOL_POST | events.TOOL_ERROR:
                name = str(trace.data.get("tool_call_id"))
            case _:
                return
        if self.stops.ends_after(name, answer):
            coordinator.cancellation.request_graceful()

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
            run: Runs the tool. It does where an agent is called, in a real workspace, and where it
                keeps something for the session alone (`changes_session_only`): hooks read that.
        """
        call = self._calls.get(current_tool_call_id() or "")
        if call is not None and self.stops.breaks(call):
            await self._interrupted(call)
        if name in AGENT_TOOLS and _arguments_of(tool) >= _AGENT_ARGUMENTS:
            return await run()
        if self.tools == "real" and self._may_run(name, tool, arguments):
            terms = current_grant() or Grant("mode")
            # Nobody looks at it: it gets no more than a sandbox gives.
            with granted(replace(terms, by="mode", network=False)):
                return await run()
        for_session = getattr(tool, "changes_session_only", False) is True
        if self.tools == "real" and not for_session:
            self.not_run.setdefault(name, []).append(current_tool_call_id() or "")
        if call is not None and call.result is not None:
            if for_session:
                await run()
            return self._result(call.result)
        fault = call.error if call is not None else None
        if fault is None or fault.type in _NEVER_RAN:
            self.missed.append(f"call {current_tool_call_id()}")
            return ToolResult(success=False, error={"type": "replay", "message": _NO_RESULT})
        raise _fault(name, fault, self.names.put_in(fault.msg))

    async def _interrupted(self, call: TapedCall) -> None:
        """Stop what was stopped while a call ran, with what had come of it; does not return."""
        try:
            await self.stopped(call.id)
        except asyncio.CancelledError as error:
            if call.result is None:
                raise
            # The loop says anew that it was interrupted.
            said = str(call.result.get("output")).removesuffix(f"\n[{INTERRUPTED}]")
            raise interrupted_with(self._result({**call.result, "output": said})) from error

    def _result(self, result: Mapping[str, Any]) -> ToolResult:
        fields = texts_changed(result, self.names.put_in)
        known = {key: fields[key] for key in ToolResult.model_fields if fields.get(key) is not None}
        return ToolResult.model_validate({"success": True, **known})

    def _may_run(self, name: str, tool: Any, arguments: Mapping[str, Any]) -> bool:
        """Whether a call does no more than read and change files of the workspace."""
        from amplifier_tui.host.gate.approvals.subject import read_subject
        from amplifier_tui.host.gate.places import locate

        subject = read_subject(name, arguments)
        root = self._workspace
        unclear = subject.unclear or bool(arguments.get(OUTSIDE_SANDBOX))
        if root is None or subject.kind not in _REAL or unclear:
            return False
        if subject.kind == "command":
            return OUTSIDE_SANDBOX in _arguments_of(tool)
        places = [locate(path, root) for path in subject.paths]
        return not any(place.outside or place.secret for place in places)


def _arguments_of(tool: Any) -> Set[str]:
    """Return the names of the arguments that a tool takes."""
    schema = getattr(tool, "input_schema", None)
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties.keys() if isinstance(properties, Mapping) else frozenset()


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


class _UnreadServers(StandIn):
    """Servers of which such texts get nothing."""

    __slots__ = ()

    async def read(self, name: str, uri: str) -> str:
        """Raise a `LookupError`."""
        raise LookupError(_NOTHING_READ)

    async def prompt(self, name: str, prompt: str, words: Sequence[str]) -> str:
        """Raise a `LookupError`."""
        raise LookupError(_NOTHING_READ)
