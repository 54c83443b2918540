import pytest

from amplifier_tui.host.events import (
    Compacted,
    Failed,
    HostEvent,
    LaneClosed,
    LaneOpened,
    ModeChanged,
    ModelChanged,
    Notice,
    SessionHeld,
    SteerApplied,
    TurnStatus,
)
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    ErrorEntry,
    LaneEntry,
    NoteEntry,
    TextEntry,
    ThinkingEntry,
    ToolEntry,
    UserEntry,
    WelcomeEntry,
)
from tests.ui.state.make import (
    delta,
    ended,
    make,
    new_state,
    opened,
    started,
    tool,
    tool_ended,
    turn,
    turn_ended,
)


def outline(entries: list[ConversationEntry]) -> list[str]:
    """One short line per entry."""
    lines = []
    for entry in entries:
        match entry:
            case UserEntry():
                lines.append(f"user {entry.text}{' (steered)' if entry.steered else ''}")
            case TextEntry():
                tail = " …" if entry.streaming else " ✂" if entry.interrupted else ""
                lines.append(f"text {entry.text}{tail}")
            case ThinkingEntry():
                tail = " …" if entry.streaming else " ✂" if entry.interrupted else ""
                lines.append(f"thinking {entry.text}{tail}")
            case ToolEntry():
                lines.append(f"tool {entry.tool} {entry.state}")
            case ErrorEntry():
                lines.append(f"error {entry.message}{' (retry)' if entry.retryable else ''}")
            case NoteEntry():
                lines.append(f"note {entry.text}" + f": {entry.detail}" * bool(entry.detail))
            case WelcomeEntry():
                lines.append(f"welcome {entry.bundle}")
    return lines


FAILURE = make(Failed, kind="network", message="No route", retryable=True, prompt="fix it")

CASES: dict[str, tuple[list[HostEvent], list[str]]] = {
    "an answer streams and is replaced by the whole of it": (
        [turn(), started("b"), delta("b", "Hel"), delta("b", "lo"), ended("b", "Hello.")],
        ["user fix it", "text Hello."],
    ),
    "what has arrived is there before the end": (
        [turn(), started("b"), delta("b", "Hel")],
        ["user fix it", "text Hel …"],
    ),
    "what became of a key stands below its prompt, other notices do not": (
        [
            turn(),
            make(Notice, level="warning", text="A key goes to the model", source="secrets"),
            make(Notice, level="info", text="A hook changed it", source="prompt", detail="+b"),
            make(Notice, level="warning", text="Something else", source="host"),
        ],
        ["user fix it", "note A key goes to the model", "note A hook changed it: +b"],
    ),
    "a block that never streamed appears whole": (
        [turn(), ended("b", "Hello")],
        ["user fix it", "text Hello"],
    ),
    "the durable copy of a block is no second answer": (
        [turn(), started("b"), delta("b", "Hi"), ended("b", "Hi"), ended("b", "Hi.")],
        ["user fix it", "text Hi."],
    ),
    "a discarded stream leaves nothing and its retry stands alone": (
        [
            turn(),
            started("r1:0"),
            delta("r1:0", "Half"),
            ended("r1:0", "", discarded=True),
            started("r2:0"),
            delta("r2:0", "Whole"),
            ended("r2:0", "Whole"),
        ],
        ["user fix it", "text Whole"],
    ),
    "a late delta of a discarded block is ignored": (
        [turn(), started("b"), delta("b", "x"), ended("b", "", discarded=True), delta("b", "y")],
        ["user fix it"],
    ),
    "a late delta of a finished block is ignored": (
        [turn(), started("b"), ended("b", "done"), delta("b", " twice")],
        ["user fix it", "text done"],
    ),
    "an empty text block shows nothing": (
        [turn(), started("b"), ended("b", " \n")],
        ["user fix it"],
    ),
    "thinking is seen from its first moment": (
        [turn(), started("t", "thinking")],
        ["user fix it", "thinking  …"],
    ),
    "thinking that came to nothing goes": (
        [turn(), started("t", "thinking"), ended("t", "", "thinking")],
        ["user fix it"],
    ),
    "a delta before the start of a thinking block ends up as thinking": (
        [turn(), delta("t", "hm"), ended("t", "hmm", "thinking")],
        ["user fix it", "thinking hmm"],
    ),
    "an interrupted answer is marked": (
        [turn(), started("b"), delta("b", "Half"), ended("b", "Half", interrupted=True)],
        ["user fix it", "text Half ✂"],
    ),
    "blocks of the same id in two lanes are two": (
        [turn(), ended("b", "main"), ended("b", "sub", agent="lane1")],
        ["user fix it", "text main", "text sub"],
    ),
    "a failure can be retried": (
        [turn(), FAILURE],
        ["user fix it", "error No route (retry)"],
    ),
    "only the newest failure can be retried": (
        [turn(), FAILURE, turn(2, "again"), FAILURE],
        ["user fix it", "error No route", "user again", "error No route (retry)"],
    ),
    "the same failure twice in a row is one": (
        [turn(), FAILURE, FAILURE],
        ["user fix it", "error No route (retry)"],
    ),
    "of two failures in a turn the newer one can be retried": (
        [turn(), FAILURE, make(Failed, kind="network", message="Again", retryable=True)],
        ["user fix it", "error No route", "error Again (retry)"],
    ),
    "the end of a turn told twice leaves one note": (
        [turn(), turn_ended(status="cancelled"), turn_ended(status="cancelled")],
        ["user fix it", "note Stopped"],
    ),
    "a failed turn with its failure shown needs no note": (
        [turn(), FAILURE, turn_ended(status="error")],
        ["user fix it", "error No route (retry)"],
    ),
    "a failed turn without a reason says so": (
        [turn(), turn_ended(status="error")],
        ["user fix it", "note Failed"],
    ),
    "the same turn told twice is one": (
        [turn(), turn()],
        ["user fix it"],
    ),
    "a turn number that comes again with other words is another turn": (
        [turn(1, "a"), turn(1, "b")],
        ["user a", "user b"],
    ),
    "a steering message is the user's words": (
        [turn(), make(SteerApplied, text="use uv")],
        ["user fix it", "user use uv (steered)"],
    ),
    "a compaction leaves a line": (
        [turn(), make(Compacted, before_tokens=118_000, after_tokens=31_000, rows=14)],
        ["user fix it", "note Compacted 118k → 31k · 14 messages shortened"],
    ),
    "the empty session is welcomed": ([opened()], ["welcome coding"]),
    "the welcome goes with the first words": ([opened(), turn()], ["user fix it"]),
    "a failure at the start leaves the welcome": (
        [opened(), FAILURE],
        ["welcome coding", "error No route (retry)"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_events_become_entries(name: str) -> None:
    events, expected = CASES[name]
    assert outline(new_state(*events).entries) == expected


@pytest.mark.parametrize("name", CASES)
def test_replayed_events_become_the_same_entries(name: str) -> None:
    events, expected = CASES[name]
    replayed = [type(e).from_json(e.to_json() | {"replayed": True}) for e in events]
    # What was open when the program died is not open any more, and cannot be retried.
    expected = [line.replace(" (retry)", "") for line in expected]
    expected = [line.replace(" …", " ✂") for line in expected if line != "thinking  …"]
    assert outline(new_state(*replayed).entries) == expected


@pytest.mark.parametrize(
    ("status", "ms", "note"),
    [
        ("success", 5_000, None),
        ("cancelled", 5_000, "note Stopped after 5 s · partial answer kept"),
        ("cancelled", 0, "note Stopped · partial answer kept"),
        ("incomplete", 65_000, "note Ended after 1 min 5 s before the answer was complete"),
        ("error", 5_000, "note Failed after 5 s · partial answer kept"),
    ],
)
def test_a_turn_that_did_not_succeed_ends_with_a_note(
    status: TurnStatus, ms: float, note: str | None
) -> None:
    state = new_state(
        turn(), started("b"), delta("b", "Half"), turn_ended(status=status, duration_ms=ms)
    )
    lines = outline(state.entries)
    mark = "" if status == "success" else " ✂"
    assert lines == ["user fix it", f"text Half{mark}", *([note] if note else [])]


def test_a_turn_whose_request_a_hook_refused_ends_with_a_note_that_says_so() -> None:
    state = new_state(turn(), turn_ended(status="incomplete", denied="out of money"))
    (note,) = outline(state.entries)[1:]
    assert note == "note Ended: a hook refused the request to the model"


def test_an_answer_with_nothing_in_it_leaves_a_note() -> None:
    state = new_state(turn(), turn_ended(silent=True))
    assert outline(state.entries) == ["user fix it", "note The model answered nothing"]


def test_an_answer_that_the_model_declined_stays_and_a_warning_below_says_what_can_be_done() -> (
    None
):
    state = new_state(turn(), started("b"), ended("b", "I"), turn_ended(declined=True))
    *said, note = state.entries
    assert outline(said) == ["user fix it", "text I"]
    assert isinstance(note, NoteEntry) and note.level == "warning"
    assert note.text == (
        "The model declined to answer. "
        "Use other words, another model (/model), or go back (/rewind)."
    )


def test_a_stop_before_any_answer_promises_nothing() -> None:
    state = new_state(
        turn(1, "a"),
        started("b"),
        delta("b", "x"),
        turn_ended(1, "cancelled"),
        turn(2, "b"),
        turn_ended(2, "cancelled"),
    )
    assert outline(state.entries)[-1] == "note Stopped"


def test_a_lane_that_closes_settles_its_own_entries_only() -> None:
    state = new_state(
        turn(),
        started("m"),
        delta("m", "main"),
        started("s", agent="lane1"),
        delta("s", "sub", agent="lane1"),
        make(LaneClosed, lane="lane1"),
    )
    assert outline(state.entries) == ["user fix it", "text main …", "text sub ✂"]


def test_deltas_of_one_batch_reach_the_transcript_as_one_change() -> None:
    state = new_state(turn(), started("b"), delta("b", "a"))
    changes = state.apply([delta("b", "b"), delta("b", "c")])
    assert [(c.op, c.text) for c in changes] == [("stream", "bc")]


def test_a_block_added_in_a_batch_is_not_streamed_into_as_well() -> None:
    state = new_state(turn())
    changes = state.apply([started("b"), delta("b", "a"), delta("b", "b")])
    assert [c.op for c in changes] == ["add"]
    assert isinstance(changes[0].entry, TextEntry)
    assert changes[0].entry.text == "ab"


def test_entries_keep_their_keys_apart_when_ids_repeat() -> None:
    state = new_state(turn(1, "a"), turn(1, "b"), FAILURE, turn(2, "c"), FAILURE)
    keys = [entry.key for entry in state.entries]
    assert len(set(keys)) == len(keys) == 5


def test_a_resumed_session_says_where_the_past_ends() -> None:
    state = new_state(
        opened(resumed=True),
        turn(1, "old", replayed=True),
        ended("b", "answer", replayed=True),
        turn(2, "new"),
    )
    assert outline(state.entries) == [
        "user old",
        "text answer",
        "note Resumed · coding",
        "user new",
    ]


def test_what_is_resumed_with_another_bundle_than_its_own_says_so() -> None:
    stored = (turn(1, "old", replayed=True), ended("b", "answer", replayed=True))
    state = new_state(opened(resumed=True, gone="own"), *stored, turn(2, "new"))
    notes = [entry for entry in state.entries if isinstance(entry, NoteEntry)]
    words = "Resumed · coding, since its own bundle own is not there any more"
    assert [(each.text, each.level) for each in notes] == [(words, "warning")]


def test_a_resumed_session_without_a_past_needs_no_divider() -> None:
    state = new_state(opened(resumed=True), turn(1, "new"), turn_ended(), turn(2, "more"))
    assert outline(state.entries) == ["user new", "user more"]


def test_how_a_command_in_the_background_ended_says_where_its_output_is_while_it_is_kept() -> None:
    stored = make(Notice, level="warning", text="job-1 ended", source="jobs", replayed=True)
    state = new_state(
        *(turn(replayed=True), stored, turn_ended(replayed=True), turn(2)),
        make(Notice, level="warning", text="job-2 ended", source="jobs"),
        make(Notice, level="info", text="job-3 ended", source="jobs"),
    )
    assert outline(state.entries) == [
        *("user fix it", "note job-1 ended", "user fix it"),
        *("note job-2 ended · /jobs shows what it printed", "note job-3 ended"),
    ]


def test_a_call_that_was_running_when_the_program_died_is_shown_as_interrupted() -> None:
    state = new_state(opened(resumed=True), turn(replayed=True), tool("c", replayed=True))
    assert outline(state.entries) == ["user fix it", "tool bash interrupted"]


@pytest.mark.parametrize(
    ("stored", "broken"),
    [
        ([tool("c", replayed=True)], True),
        ([tool("c", replayed=True), tool_ended("c", replayed=True)], True),
        ([], True),
        ([tool("c", replayed=True), turn_ended(status="cancelled", replayed=True)], False),
        ([ended("b", "answer", replayed=True)], False),
        ([make(Notice, level="info", text="A", source="jobs", replayed=True)], True),
    ],
)
def test_a_turn_that_the_program_did_not_live_to_end_is_said_to_be_so(
    stored: list[HostEvent], broken: bool
) -> None:
    state = new_state(turn(replayed=True), *stored, opened(resumed=True))
    state.apply([make(ModeChanged, mode="ask")])
    notes = [entry.text for entry in state.entries if isinstance(entry, NoteEntry)]
    rest = " · the last turn had not ended: a prompt such as “go on” continues it" if broken else ""
    assert notes[-1] == f"Resumed · coding{rest}"


def test_a_turn_that_goes_on_in_another_window_is_not_said_to_be_over() -> None:
    state = new_state(turn(replayed=True), opened(resumed=True), make(SessionHeld, owner="4711"))
    assert [entry.text for entry in state.entries if isinstance(entry, NoteEntry)] == [
        "Resumed · coding"
    ]


def test_a_replay_that_comes_in_two_batches_is_not_cut_in_two() -> None:
    state = new_state(opened(resumed=True), turn(replayed=True), tool("c", replayed=True))
    state.apply([tool_ended("c", replayed=True), ended("b", "done", replayed=True)])
    assert outline(state.entries) == ["user fix it", "tool bash ok", "text done"]


def test_earlier_history_goes_in_front_in_its_own_order() -> None:
    state = new_state(opened(), turn(3, "now"))
    changes = state.prepend(
        [turn(1, "first", replayed=True), turn(2, "second", replayed=True), tool("x")]
    )
    assert [c.op for c in changes] == ["prepend"] * 3
    assert outline(state.entries) == [
        "user first",
        "user second",
        "tool bash interrupted",
        "user now",
    ]


def test_the_welcome_knows_what_is_missing_the_mode_and_the_model_that_was_chosen() -> None:
    state = new_state(opened())
    state.apply(
        [make(ModeChanged, mode="plan"), make(ModelChanged, provider="openai", model="gpt-6-luna")]
    )
    state.apply([make(Failed, kind="no_provider", message="No key", missing=("OPENAI_API_KEY",))])
    welcome = state.entries[0]
    assert isinstance(welcome, WelcomeEntry)
    assert (welcome.mode, welcome.missing) == ("plan", ("OPENAI_API_KEY",))
    assert welcome.model == "gpt-6-luna"


def test_agents_of_one_kind_keep_names_of_their_own_when_earlier_ones_are_fetched() -> None:
    def called(number: int, **about: object) -> LaneOpened:
        return make(LaneOpened, lane=f"l{number}", name="explorer", at=float(number), **about)

    state = new_state(opened(), called(3), called(4))
    assert [entry.name for entry in state.lanes.by_lane.values()] == ["explorer", "explorer 2"]
    changes = state.prepend([called(n, replayed=True) for n in (1, 2)])
    wanted = {"l1": "explorer", "l2": "explorer 2", "l3": "explorer 3", "l4": "explorer 4"}
    assert {lane: entry.name for lane, entry in state.lanes.by_lane.items()} == wanted
    shown = [entry for entry in state.entries if isinstance(entry, LaneEntry)]
    assert {entry.lane: entry.name for entry in shown} == wanted
    drawn = [change.op for change in changes if isinstance(change.entry, LaneEntry)]
    assert sorted(drawn) == ["prepend", "prepend", "update", "update"]
    state.apply([called(5)])
    assert state.lanes.name_of("l5") == "explorer 5"
