"""From a stored session to a cassette: its event log, and what was noted beside it."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import field
from math import inf
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from amplifier_tui import __version__
from amplifier_tui.base.jsonl import each_row
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.cassettes.cassette import (
    ROW,
    Cassette,
    CassetteError,
    CassetteHeader,
    TapedCall,
    TapedModel,
    bundle_name,
    first_mistake,
)
from amplifier_tui.host.cassettes.names import run_names, texts_changed
from amplifier_tui.host.cassettes.stored.log_rows import (
    Data,
    asker_in,
    blocks_in,
    fault_in,
    judged_in,
    mapping_of,
    objects_in,
    result_after_hooks,
    time_of,
)
from amplifier_tui.host.cassettes.stored.notes import SessionNotes
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.host.gate.modes import read_mode
from amplifier_tui.host.messages import STEER_HOOK, text_of
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.event_log import FILE_NAME
from amplifier_tui.host.store.export.masking import Masking
from amplifier_tui.host.store.metadata import now, read_metadata

_OF_CALLS: Final = frozenset({"tool:pre", "tool:post", "tool:error"})
_STEPS: Final = frozenset({"prompt:submit", "provider:request"})
"""Where a lane goes on: what was asked in it before has been decided."""
_ANSWERED: Final = "what was answered: emit `provider:response` after each answer"
_NUMBERS: Final = ("messages_removed", "messages_truncated", "messages_summarized", "reason")


@dataclass(slots=True)
class _Lane:
    """Where a lane of the log is.

    Attributes:
        run: What its ids begin with: the turn, or the call that runs the agent and a slash.
        begun: When calls began, by the ids they have in the log.
        calls: The lines of the calls by the ids they have in the log.
        ended: Requests that were answered on `llm:response` and not yet by the loop.
        question: The event at which a hook asked last, its line and when, until that was decided.
        broken: Whether it was stopped at a request or a question.
    """

    run: str = ""
    answers: int = 0
    begun: dict[str, float] = field(default_factory=dict)
    calls: dict[str, Data] = field(default_factory=dict)
    asked: bool = False
    sent: bool = False
    ended: list[str] = field(default_factory=list)
    question: tuple[str, Data, float] | None = None
    broken: bool = False

    @property
    def place(self) -> str:
        """The id of the answer that comes next."""
        return f"{self.run}{self.answers + 1}"


class SessionRecorder:
    """Reads one session.

    Args:
        folder: The session's folder.
        redactor: Takes the secrets out.
        in_copy: It was a replay in a copy of its project, or in what stood for it.

    Attributes:
        secrets: How many were taken out.
    """

    def __init__(self, folder: Path, redactor: Redactor, *, in_copy: bool = False) -> None:
        self._folder = folder
        self._masking = Masking(redactor)
        self._card = read_metadata(folder)
        places = self._card.working_dir, self._card.project_dir
        self._names = run_names(*places, folder, in_copy=in_copy)
        self._notes = SessionNotes(folder)
        self._lanes: dict[str, _Lane] = defaultdict(_Lane)
        self._rows: list[Data] = []
        self._turn = 0
        self._begun = 0.0
        self._prompt = ""
        self._said: dict[str, list[str]] = {}
        """Streamed texts by request."""
        self._sides: dict[str, int] = defaultdict(int)
        self._budget: Data = {}
        self._models: dict[str, Data] = {}
        self._line: Data = {}
        """The prompt of the turn."""
        self._compactions = 0
        self._asked = False
        self._used: dict[str, int] = defaultdict(int)
        """How often a name was used."""
        self.secrets = 0

    def record(self) -> Cassette:
        """Return the session as a cassette.

        Raises:
            CassetteError: It has no event log of this program, or one that was cut short.
            OSError: It can't be read.
        """
        try:
            return self._recorded()
        except ValidationError as error:
            raise CassetteError(f"{self._folder.name}: {first_mistake(error)}") from error

    def _recorded(self) -> Cassette:
        found = False
        for number, row in each_row(self._folder / FILE_NAME):
            data = None if row is None else row.get("data")
            if row is None or not isinstance(data, dict) or data.get("cut") is True:
                raise CassetteError(f"row {number + 1} of {FILE_NAME} can't be read, or was cut")
            found = found or "lane" in row
            self._take(str(row.get("event")), str(row.get("lane") or MAIN_LANE), data, row)
        self._stop_open(inf)
        main = self._lanes[MAIN_LANE]
        if found and not self._turn and (main.asked or main.answers or self._asked):
            raise self._untold(
                "when a turn begins: emit `execution:start` before the first request"
            )
        if not found or not self._turn:
            raise CassetteError(
                f"{self._folder.name} has no event log of this program with a turn in it"
            )
        if self._asked and not any(row["kind"] == "answer" for row in self._rows):
            raise self._untold(_ANSWERED)
        modes = [str(row["mode"]) for row in self._rows if row.get("mode")]
        hidden = (texts_changed(row, self._names.hidden) for row in self._rows)
        header = CassetteHeader(
            program=__version__,
            recorded=now(),
            bundle=bundle_name(self._card.bundle_reference),
            mode=read_mode(modes[0] if modes else self._card.mode) or "ask",
            providers={name: TapedModel(**facts) for name, facts in self._models.items()},
        )
        rows = tuple(ROW.validate_python(self._masking.values(row)) for row in hidden)
        self.secrets = self._masking.count
        return Cassette.model_construct(header=header, rows=rows)

    def _add(self, kind: str, place: str, **fields: Any) -> Data:
        row = {"kind": kind, "id": place, **fields}
        self._rows.append(row)
        return row

    def _take(self, event: str, name: str, data: Data, row: Data) -> None:
        lane = self._lanes[name]
        judged = judged_in(row)
        changed = row.get("changed")
        after = changed if isinstance(changed, dict) else data
        asker = "" if event in _OF_CALLS else asker_in(row)
        if asker or event in _STEPS:
            self._settle_question(name, lane, time_of(row))
        denied = "deny" in judged.values()
        begins = (asker or denied) and event == "prompt:submit" and name == MAIN_LANE
        if judged and event not in _OF_CALLS and (lane.run or begins):
            where = self._numbered(f"{self._turn + 1 if begins else lane.place} {event}")
            line = self._add("hook", where, hooks=judged, asker=asker)
            if asker:
                lane.question = event, line, time_of(row)
        match event:
            case "prompt:submit" if name == MAIN_LANE:
                self._prompt = str(after.get("prompt") or "")
                if denied:
                    self._prompted(refused=(time_of(row), inf))
            case "execution:start":
                self._begins(name, lane, row)
            case "execution:end" if name == MAIN_LANE:
                self._ends(lane, data, row)
            case "cancel:completed" if lane.run:
                self._stopped(name, lane, data, row)
            case "context:budget":
                self._model(data)
            case "provider:request":
                self._settle(name, lane, time_of(row))
                lane.asked, lane.sent = not denied, False
                self._provider(data)
                if STEER_HOOK in judged and (steer := self._notes.steered()) is not None:
                    self._add("steer", lane.place, text=steer)
            case "llm:request":
                self._asked = lane.sent = True
                self._said[str(data.get("request_id"))] = []
            case "llm:stream_block_delta":
                said = self._said.get(str(data.get("request_id")))
                if said is not None and data.get("block_type") == "text":
                    said.append(str(data.get("text") or ""))
            case "llm:response" if data.get("status") == "cancelled":
                if data.get("aside") is True:
                    self._said.pop(str(data.get("request_id")), None)
            case "llm:response":
                lane.ended.append(str(data.get("request_id")))
            case "provider:error" if data.get("aside") is True:
                self._said.pop(str(data.get("request_id")), None)
            case "provider:response" | "provider:error":
                self._answered(lane, data)
            case "tool:pre" | "tool:post" | "tool:error" | "artifact:write":
                self._call(event, name, lane, data, after, judged, row)
            case "context:compaction":
                facts = {key: data[key] for key in _NUMBERS if data.get(key)}
                self._compactions += 1
                place = self._turn if name == MAIN_LANE else lane.place
                place = f"{place}.c{self._compactions}"
                self._add("compaction", place, facts=facts)
        if event in ("execution:end", "provider:request"):
            self._sides_of(name, lane)

    def _begins(self, name: str, lane: _Lane, row: Data) -> None:
        if name == MAIN_LANE:
            self._stop_open(time_of(row))
            self._begun = time_of(row)
            self._prompted()
        else:
            opened, status = self._notes.run(name)
            call = self._call_of(opened)
            lane.run = f"{call}/"
            self._names.agent(name, call)
            about = {"name": opened.get("name", ""), "instruction": opened.get("instruction", "")}
            self._add("agent", call, **about, status=status)
            lane.answers = 0
        lane.asked = lane.broken = False

    def _prompted(self, *, refused: tuple[float, float] | None = None) -> None:
        """Note a prompt, with which a turn begins unless it was refused, between two times."""
        self._turn += 1
        lane = self._lanes[MAIN_LANE]
        lane.run, lane.answers = f"{self._turn}.", 0
        sent, self._prompt = self._prompt, ""
        typed = self._notes.refused(sent, *refused) if refused else self._notes.prompt(sent)
        self._line = self._add("prompt", str(self._turn), **typed)

    def _call_of(self, opened: Data) -> str:
        """Return what a run of an agent goes by: its call, with a number from the second on."""
        parent = self._lanes[str(opened.get("parent") or MAIN_LANE)]
        line = parent.calls.get(str(opened.get("call_id")))
        return self._numbered(str(line["id"]) if line is not None else f"{self._turn}.a")

    def _numbered(self, name: str) -> str:
        """Return a name, with a number from the second time on."""
        self._used[name] += 1
        number = self._used[name]
        return f"{name}#{number}" if number > 1 else name

    def _untold(self, what: str) -> CassetteError:
        return CassetteError(f"{self._folder.name}: its loop does not tell {what}")

    def _ends(self, lane: _Lane, data: Data, row: Data) -> None:
        # A request that a person refused was none that went out.
        if lane.asked and lane.sent and data.get("status") == "completed":
            raise self._untold(_ANSWERED)
        self._stop_open(time_of(row))
        self._add(
            "end",
            str(self._turn),
            status=str(data.get("status") or ""),
            text=str(data.get("response") or ""),
            seconds=round(max(0.0, time_of(row) - self._begun), 2),
        )

    def _stop_open(self, now: float) -> None:
        """Note the requests that were never answered: the turn was stopped."""
        for name, lane in self._lanes.items():
            self._stop_request(name, lane, now)

    def _stop_request(self, name: str, lane: _Lane, now: float) -> None:
        """Note the request of a lane that was never answered."""
        self._settle(name, lane, now)
        self._settle_question(name, lane, now)
        if lane.asked and lane.run:
            self._add("answer", lane.place, interrupted=True)
            lane.answers += 1
            lane.broken = True
        lane.asked = False

    def _stopped(self, name: str, lane: _Lane, data: Data, row: Data) -> None:
        """Note what a lane was stopped after, unless the line of what was broken off says it."""
        self._stop_request(name, lane, time_of(row))
        place = f"{lane.run}{lane.answers}"
        lines = [each for each in lane.calls.values() if each["id"].rpartition(".")[0] == place]
        calls = []
        for line in (each for each in lines if "kind" in each):
            decision = line.get("decision", {})
            told = (
                "result" in line
                or "error" in line
                or decision.get("outcome", "allowed") != "allowed"
            )
            if data.get("was_immediate") is True and not told:
                line["error"] = {"type": "interrupted"}
            lane.broken = lane.broken or decision.get("by") == "stop"
            calls.append(TapedCall.model_validate(line))
        if lane.broken or any(each.interrupted for each in calls):
            return
        # The lines are in the order of the calls.
        after = [each.id for each in calls if each.ended]
        at = len(self._rows) - (self._rows[-1]["kind"] == "end")
        self._rows.insert(at, {"kind": "stop", "id": after[-1] if after else place})

    def _model(self, data: Data) -> None:
        for facts in self._models.values():
            window, reserve = data.get("window"), data.get("output_reserve")
            if facts["model"] in ("", data.get("model")) and isinstance(window, int) and window > 0:
                facts["context_window"] = window
                if isinstance(reserve, int) and reserve > 0:
                    facts["max_output_tokens"] = reserve
        self._budget = data

    def _provider(self, data: Data) -> None:
        provider = str(data.get("provider") or "")
        if provider and provider not in self._models:
            self._models[provider] = {"model": str(data.get("model") or "")}
            self._model(self._budget)

    def _answered(self, lane: _Lane, data: Data) -> None:
        name = lane.place
        lane.asked, lane.answers = False, lane.answers + 1
        provider = str(data.get("provider") or "")
        if data.get("error"):
            self._add("answer", name, provider=provider, error=fault_in(data))
            return
        response = mapping_of(data.get("response") or {}, "content")
        # It may have come in several parts.
        whole = text_of(response.get("content"))
        lane.ended = [each for each in lane.ended[:-1] if self._text(each) not in whole]
        ids: dict[str, str] = {}
        for number, call in enumerate(objects_in(response.get("tool_calls")), start=1):
            ids[str(call.get("id"))] = f"{name}.{number}"
            lane.calls[str(call.get("id"))] = {"id": f"{name}.{number}"}
        content = [_renamed(block, ids) for block in blocks_in(response)]
        usage = mapping_of(data.get("usage") or {}, "total_tokens")
        self._add(
            "answer",
            name,
            provider=provider,
            content=content,
            finish=data.get("finish_reason"),
            usage={key: usage[key] for key in usage if isinstance(usage[key], int | float | str)},
        )

    def _text(self, request: str) -> str:
        """Return what was streamed for a request."""
        return "".join(self._said.get(request, ()))

    def _sides_of(self, name: str, lane: _Lane) -> None:
        """Note what was answered on the side since."""
        for request in lane.ended:
            said = self._said.pop(request, None)
            if said is not None:
                first = "" if name == MAIN_LANE else lane.run
                self._sides[first] += 1
                self._add("side", f"{first}s{self._sides[first]}", text="".join(said))
        lane.ended.clear()

    def _call(
        self,
        event: str,
        name: str,
        lane: _Lane,
        data: Data,
        after: Data,
        judged: dict[str, str],
        row: Data,
    ) -> None:
        call_id = str(data.get("tool_call_id"))
        line = lane.calls.get(call_id)
        if line is None:
            return
        if "kind" not in line:
            line |= {"kind": "call", "tool": str(data.get("tool_name") or "")}
            line["arguments"] = mapping_of(data.get("tool_input"), "input")
            self._rows.append(line)
        match event:
            case "tool:pre":
                line["hooks"] = judged
                lane.begun[call_id] = time_of(row)
                if after is not data and after.get("tool_input") != data.get("tool_input"):
                    line["became"] = mapping_of(after.get("tool_input"), "input")
            case "artifact:write":
                path = str(data.get("relative_path") or data.get("path") or "")
                line.setdefault("files", {})[path] = str(data.get("diff") or "")
            case "tool:post":
                result = data.get("result", data.get("tool_result"))
                line["result"] = mapping_of(result, "output")
                if (seen := result_after_hooks(data, after, row)) is not None:
                    line["seen"] = seen
            case "tool:error":
                line["error"] = fault_in(data)
        if event in ("tool:post", "tool:error"):
            self._decided(name, call_id, line, time_of(row))
            began = lane.begun.pop(call_id, time_of(row))
            line["seconds"] = round(max(0.0, time_of(row) - began), 2)

    def _decided(self, name: str, call_id: str, line: Data, until: float) -> None:
        """Note what was decided about a call."""
        decided, mode = self._notes.decided(name, call_id, until)
        if decided:
            line["decision"] = decided
        if mode is not None:
            self._line.setdefault("mode", mode)

    def _settle(self, name: str, lane: _Lane, until: float) -> None:
        """Note what was decided about calls that did not run, of which not every loop tells."""
        for call_id in lane.begun:
            self._decided(name, call_id, lane.calls[call_id], until)
        lane.begun.clear()

    def _settle_question(self, name: str, lane: _Lane, until: float) -> None:
        """Note what was decided about the last question of a hook, and what did not go for it."""
        if lane.question is None:
            return
        (event, line, asked), lane.question = lane.question, None
        decided, _ = self._notes.decided(name, "", until, line["asker"])
        if decided:
            line["decision"] = decided
        if decided.get("outcome", "allowed") == "allowed":
            return
        lane.broken = decided.get("by") == "stop"
        if event == "provider:request":
            lane.asked = False
        elif event == "prompt:submit" and name == MAIN_LANE:
            self._prompted(refused=(asked, until))


def _renamed(block: Data, ids: Mapping[str, str]) -> Data:
    name = ids.get(str(block.get("id")))
    return block if name is None else {**block, "id": name}
