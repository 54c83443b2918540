import json
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host import events
from amplifier_tui.host.events import HostEvent

CLASSES = sorted(HostEvent.registry.values(), key=lambda cls: cls.__name__)
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)


def strategy(hint: Any) -> st.SearchStrategy[Any]:
    origin = get_origin(hint)
    if origin is tuple:
        return st.lists(strategy(get_args(hint)[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(_TEXT, _PLAIN, max_size=2)
    if str(origin) == "typing.Literal":
        return st.sampled_from(get_args(hint))
    if origin is not None:
        return st.one_of(*(strategy(arg) for arg in get_args(hint)))
    simple: dict[Any, st.SearchStrategy[Any]] = {
        str: _TEXT,
        int: st.integers(-(2**53), 2**53),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
    }
    return simple[hint] if hint in simple else built(hint)


def built(cls: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls)
    return st.builds(cls, **{f.name: strategy(hints[f.name]) for f in fields(cls)})


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_event_comes_back_from_json_as_it_was(cls: type[HostEvent]) -> None:
    @given(built(cls))
    def check(event: HostEvent) -> None:
        text = json.dumps(event.to_json())
        assert HostEvent.from_json(json.loads(text)) == event

    check()


def test_every_event_class_is_exported() -> None:
    assert {cls.__name__ for cls in CLASSES} <= set(vars(events))


@pytest.mark.parametrize(
    "wrong",
    [
        {"turn": "first"},
        {"at": "noon"},
        {"usage": 7},
        {"usage": {"input_tokens": "many"}},
        {"usage": {"input_tokens": None}},
        {"usage": {"cost": 0.2}},
    ],
)
def test_what_is_no_number_where_one_belongs_is_refused(wrong: dict[str, Any]) -> None:
    data = {"type": "TurnEnded", "session_id": "s", "turn": 1, "status": "success", **wrong}
    with pytest.raises(ValueError, match="Not "):
        HostEvent.from_json(data)


def test_fields_of_later_versions_are_ignored() -> None:
    data = {"type": "Notice", "session_id": "s", "level": "info", "text": "t", "colour": "red"}
    assert HostEvent.from_json(data).to_json() == {k: v for k, v in data.items() if k != "colour"}
