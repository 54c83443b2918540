from types import SimpleNamespace

from amplifier_tui.context.adr.message import Message
from amplifier_tui.context.adr.provider import ContextProvider, SessionContext
from amplifier_tui.context.adr.response import AgentResponse


def context(**kwargs: object) -> SessionContext:
    return SessionContext(input_messages=[Message.user("now")], **kwargs)


def test_every_collection_is_its_own() -> None:
    one, other = context(), context()
    one.instructions.append("x")
    one.metadata["a"] = 1
    one.tools.append(object())
    one.context_messages["s"] = []
    assert (other.instructions, other.metadata, other.tools, other.context_messages) == (
        [],
        {},
        [],
        {},
    )
    assert other.response is None


def test_messages_are_copied_and_marked() -> None:
    made, message = context(), Message.user("fact")
    made.extend_messages("rag", [message])
    assert message.additional_properties == {}
    (added,) = made.context_messages["rag"]
    assert added.additional_properties == {"_attribution": {"source_id": "rag"}}


def test_a_provider_leaves_its_type_too() -> None:
    made = context()
    made.extend_messages(ContextProvider("time"), [Message.user("noon")])
    mark = made.context_messages["time"][0].additional_properties["_attribution"]
    assert mark == {"source_id": "time", "source_type": "ContextProvider"}


def test_a_mark_that_is_there_stays_and_only_origins_are_joined() -> None:
    made, message = context(), Message.user("fact")
    message.additional_properties["_attribution"] = {
        "source_id": "other",
        "origin_session_ids": ["a"],
    }
    made.extend_messages("rag", [message], origin_session_ids=["a", "b"])
    mark = made.context_messages["rag"][0].additional_properties["_attribution"]
    assert mark == {"source_id": "other", "origin_session_ids": ["a", "b"]}


def test_instructions_keep_the_name_of_who_wrote_them() -> None:
    made = context(instructions=["given"])
    made.extend_instructions("time", "noon")
    made.instructions.append("by hand")
    made.extend_instructions("prefs", ["short", "kind"])
    assert made.instructions == ["given", "noon", "by hand", "short", "kind"]
    assert made.attributed_instructions() == [
        ("instructions", "given"),
        ("time", "noon"),
        ("instructions", "by hand"),
        ("prefs", "short"),
        ("prefs", "kind"),
    ]


def test_instructions_that_were_taken_away_take_their_names_along() -> None:
    made = context()
    made.extend_instructions("a", ["one", "two"])
    made.instructions.pop()
    assert made.attributed_instructions() == [("a", "one")]


def test_tools_are_marked_where_they_have_a_place_for_it() -> None:
    both = SimpleNamespace(additional_properties={}, metadata={})
    only = SimpleNamespace(metadata={})
    none = SimpleNamespace(metadata=None)
    made = context()
    made.extend_tools("rag", [both, only, none])
    assert both.additional_properties == {"context_source": "rag"}
    assert both.metadata == {}
    assert only.metadata == {"context_source": "rag"}
    assert made.tools == [both, only, none]


def test_messages_by_source_in_the_order_of_the_providers() -> None:
    made = context()
    for source, text in (("memory", "a"), ("rag", "b"), ("memory", "c"), ("drag", "d")):
        made.extend_messages(source, [Message.user(text)])

    def texts(**kwargs: object) -> str:
        return "".join(message.text for message in made.get_messages(**kwargs))

    assert texts() == "acbd"
    assert texts(sources=["memory"]) == "ac"
    assert texts(sources="rag") == "b"
    assert texts(exclude_sources={"memory"}) == "bd"
    assert texts(exclude_sources="rag") == "acd"
    assert texts(include_input=True) == "acbdnow"
    assert texts(sources=[], include_response=True) == ""
    made._response = AgentResponse(messages=[Message.assistant("!")])
    assert texts(include_input=True, include_response=True) == "acbdnow!"


def test_notices_are_collected_for_whoever_can_show_them() -> None:
    made = context()
    made.notify("gone")
    made.notify("back")
    assert made.metadata["notices"] == ["gone", "back"]
