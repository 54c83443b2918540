import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host import events as host
from amplifier_tui.ui.state.section import Section
from amplifier_tui.ui.state.session import SessionState
from tests.ui.state.make import NOW
from tests.ui.state.replica import Replica
from tests.ui.state.streams import COVERED, STREAM


def test_the_random_streams_hold_every_kind_of_event() -> None:
    kinds = {kind for kind in vars(host).values() if isinstance(kind, type)}
    kinds = {k for k in kinds if issubclass(k, host.HostEvent) and k is not host.HostEvent}
    assert kinds == COVERED


@given(STREAM, st.data())
def test_a_transcript_that_follows_the_changes_equals_the_entries(
    events: list[host.HostEvent], data: st.DataObject
) -> None:
    state = SessionState(clock=lambda: NOW)
    replica = Replica()
    while events:
        size = data.draw(st.integers(1, len(events)))
        batch, events = events[:size], events[size:]
        replica.follow(state.apply(batch))
        replica.check(state.entries)
        keys = [entry.key for entry in state.entries]
        assert len(keys) == len(set(keys))


@given(STREAM, STREAM)
def test_earlier_events_are_put_in_front_of_whatever_is_there(
    events: list[host.HostEvent], earlier: list[host.HostEvent]
) -> None:
    state = SessionState(clock=lambda: NOW)
    replica = Replica()
    replica.follow(state.apply(events))
    before = [entry for entry in state.entries if entry.key != "welcome"]
    replica.follow(state.prepend(earlier))
    replica.check(state.entries)
    assert state.entries[len(state.entries) - len(before) :] == before


def _shown(section: Any) -> Any:
    """Everything a section holds that a widget could show."""
    if isinstance(section, Section):
        names = [n for kind in type(section).__mro__ for n in getattr(kind, "__slots__", ())]
        values = {name: getattr(section, name) for name in names} | getattr(section, "__dict__", {})
        values["phase"] = getattr(section, "phase", None)
        return copy.deepcopy(
            {n: v for n, v in values.items() if n != "version" and not n.startswith("_")}
        )
    return copy.deepcopy(section.list.entries)


@given(STREAM)
def test_a_version_moves_exactly_when_its_section_changes(events: list[host.HostEvent]) -> None:
    state = SessionState(clock=lambda: NOW)
    sections = state._sections
    for event in events:
        session, closed = state.facts.session_id, state.facts.closed
        before = [(section.version, _shown(section)) for section in sections]
        changes = state.apply([event])
        # A session that takes the screen clears every section and fills it again.
        taken = closed or session != state.facts.session_id
        for section, (version, shown) in zip(sections, before, strict=True):
            changed = _shown(section) != shown
            assert not changed or section.version > version, type(section).__name__
            # An entry may come and go within one batch: then there are changes to show.
            changed = changed or (section is state.conversation and bool(changes))
            assert taken or changed or section.version == version, type(section).__name__


@given(STREAM)
def test_the_same_events_give_the_same_conversation_whole_or_one_by_one(
    events: list[host.HostEvent],
) -> None:
    # A replay is settled at the end of each batch, so only live events are compared.
    events = [event for event in events if not event.replayed]
    at_once = SessionState(clock=lambda: NOW)
    at_once.apply(events)
    one_by_one = SessionState(clock=lambda: NOW)
    for event in events:
        one_by_one.apply([event])
    assert one_by_one.entries == at_once.entries
