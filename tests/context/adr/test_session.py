import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import pytest
from pydantic import BaseModel

from amplifier_tui.context.adr import session as state_types
from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.session import AgentSession, register_state_type


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(state_types, "_BY_ID", dict(state_types._BY_ID))
    monkeypatch.setattr(state_types, "_BY_CLASS", dict(state_types._BY_CLASS))
    yield


@dataclass
class Basket:
    apples: int

    def to_dict(self) -> dict:
        return {"apples": self.apples}

    @classmethod
    def from_dict(cls, data: dict) -> "Basket":
        return cls(int(data["apples"]))


class Tree(BaseModel):
    height: int


def through_json(session: AgentSession) -> AgentSession:
    return AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))


def test_a_session_is_ids_and_state() -> None:
    session = AgentSession(session_id="s1", service_session_id="thread_1")
    session.state["memory"] = {"n": [1, None, True, 2.5, "x"]}
    assert session.to_dict() == {
        "type": "session",
        "session_id": "s1",
        "service_session_id": "thread_1",
        "state": {"memory": {"n": [1, None, True, 2.5, "x"]}},
    }
    again = through_json(session)
    assert (again.session_id, again.service_session_id) == ("s1", "thread_1")
    assert again.state == session.state


def test_ids_are_made_up_and_stay() -> None:
    one, other = AgentSession(), AgentSession()
    assert one.session_id != other.session_id
    with pytest.raises(AttributeError):
        one.session_id = "x"


def test_a_session_needs_its_id_and_nothing_else() -> None:
    with pytest.raises(KeyError):
        AgentSession.from_dict({"state": {}})
    assert AgentSession.from_dict({"session_id": "s"}).state == {}
    assert AgentSession.from_dict({"session_id": "s", "state": None}).state == {}


def test_messages_in_the_state_come_back_as_messages() -> None:
    session = AgentSession()
    session.state["in_memory"] = {"messages": [Message.user("hi"), Message.assistant("ho")]}
    assert through_json(session).state == session.state


def test_registered_types_come_back_as_objects() -> None:
    register_state_type(Basket)
    register_state_type(Tree, type_id="tree")
    register_state_type(
        date, type_id="date", encoder=lambda d: {"iso": str(d)}, decoder=lambda d: date(2026, 1, 2)
    )
    session = AgentSession()
    session.state["garden"] = {"b": (Basket(3), Tree(height=4)), "d": date(2026, 1, 2)}
    data = session.to_dict()["state"]["garden"]
    assert data["b"] == [{"type": "basket", "apples": 3}, {"type": "tree", "height": 4}]
    assert through_json(session).state["garden"] == {
        "b": [Basket(3), Tree(height=4)],
        "d": date(2026, 1, 2),
    }


def test_the_name_of_a_type_can_be_its_own() -> None:
    class Named(Basket):
        TYPE = "named-basket"

    class Told(Basket):
        TYPE = "ignored"

        @classmethod
        def _get_type_identifier(cls) -> str:
            return "told-basket"

    register_state_type(Named)
    register_state_type(Told)
    session = AgentSession()
    session.state["x"] = [Named(1), Told(2)]
    assert [item["type"] for item in session.to_dict()["state"]["x"]] == [
        "named-basket",
        "told-basket",
    ]


def test_an_unknown_object_with_to_dict_becomes_a_dict() -> None:
    session = AgentSession()
    session.state["x"] = {"b": Basket(3)}
    assert through_json(session).state == {"x": {"b": {"apples": 3}}}


def test_an_unknown_model_warns_and_becomes_a_dict() -> None:
    session = AgentSession()
    session.state["x"] = Tree(height=1)
    with pytest.warns(DeprecationWarning, match="register_state_type"):
        assert session.to_dict()["state"] == {"x": {"height": 1}}


def test_what_has_no_plain_form_warns_and_is_left_as_it_is() -> None:
    session, thing = AgentSession(), object()
    session.state["x"] = {"o": thing}
    with pytest.warns(RuntimeWarning, match="no plain form"):
        assert session.to_dict()["state"] == {"x": {"o": thing}}


def test_unknown_types_in_saved_data_stay_dicts() -> None:
    data = {"session_id": "s", "state": {"x": {"type": "unheard-of", "y": [{"type": 7}]}}}
    assert AgentSession.from_dict(data).state == data["state"]


def test_what_can_not_be_decoded_is_named_with_its_place() -> None:
    register_state_type(Basket)
    data = {"session_id": "s", "state": {"garden": {"all": [{"type": "basket"}]}}}
    with pytest.raises(ValueError, match=r"state\.garden\.all\[0\] is no readable 'basket'"):
        AgentSession.from_dict(data)


@pytest.mark.parametrize(
    ("kwargs", "complaint"),
    [
        ({"encoder": dict}, "both an encoder and a decoder"),
        ({"decoder": dict}, "both an encoder and a decoder"),
        ({"type_id": ""}, "must not be empty"),
        ({"type_id": "message"}, "taken by Message"),
    ],
)
def test_a_registration_that_makes_no_sense_is_refused(kwargs: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        register_state_type(Basket, **kwargs)


def test_a_type_has_one_name_and_needs_a_way_back() -> None:
    register_state_type(Basket)
    register_state_type(Basket)
    with pytest.raises(ValueError, match="registered already"):
        register_state_type(Basket, type_id="box")
    with pytest.raises(ValueError, match="give an encoder and a decoder"):
        register_state_type(date)


def test_each_provider_has_a_part_of_the_state() -> None:
    session = AgentSession()
    session.scoped_state("a")["n"] = 1
    assert session.scoped_state("a") is session.state["a"]
    session.state["b"] = "spoiled"
    with pytest.raises(TypeError, match="'b' must be a dict"):
        session.scoped_state("b")
