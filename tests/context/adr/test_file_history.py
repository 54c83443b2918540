import asyncio
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.adr.history import FileHistoryProvider, safe_name
from amplifier_tui.context.adr.message import Message
from tests.context.support import calling, result


async def test_messages_are_appended_and_come_back_in_a_new_process(tmp_path: Path) -> None:
    first = FileHistoryProvider(tmp_path)
    assert first.source_id == FileHistoryProvider.DEFAULT_SOURCE_ID == "file_history"
    turn = [
        Message.user("yes"),
        Message.from_kernel(calling("c1")),
        Message.from_kernel(result("c1")),
        Message.assistant("ok"),
    ]
    await first.save_messages("s1", turn)
    await first.save_messages("s1", turn)
    await first.save_messages("s2", [Message.user("other")])
    loaded = await FileHistoryProvider(tmp_path).get_messages("s1")
    assert loaded == [*turn, *turn]


async def test_a_torn_end_costs_only_the_torn_message(tmp_path: Path) -> None:
    provider = FileHistoryProvider(tmp_path)
    await provider.save_messages("s", [Message.user("one"), Message.user("two")])
    path = provider.path("s")
    path.write_bytes(path.read_bytes()[:-9])
    assert [m.text for m in await provider.get_messages("s")] == ["one"]
    await provider.save_messages("s", [Message.user("three")])
    assert [m.text for m in await provider.get_messages("s")] == ["one", "three"]


async def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    provider = FileHistoryProvider(tmp_path)
    await asyncio.gather(
        *(provider.save_messages("s", [Message.user(f"{n} " * 500)]) for n in range(20))
    )
    loaded = await provider.get_messages("s")
    assert sorted(int(m.text.split()[0]) for m in loaded) == list(range(20))


async def test_excluded_messages_are_skipped_where_asked_for(tmp_path: Path) -> None:
    message = Message.user("old")
    message.additional_properties["_excluded"] = True
    provider = FileHistoryProvider(tmp_path, skip_excluded=True, source_id="audit")
    await provider.save_messages(None, [message, Message.user("new")])
    assert [m.text for m in await provider.get_messages(None)] == ["new"]


def test_an_id_never_leaves_the_folder(tmp_path: Path) -> None:
    provider = FileHistoryProvider(tmp_path)
    for hostile in (
        "../../etc/passwd",
        "/etc/passwd",
        "a/b",
        "..",
        ".",
        "",
        "CON",
        "x" * 500,
        "\0",
    ):
        assert provider.path(hostile).resolve().parent == tmp_path.resolve()


@given(st.text(), st.text())
def test_two_ids_never_share_a_name(one: str, other: str) -> None:
    names = {safe_name(one), safe_name(other)}
    assert len(names) == len({one, other})
    for name in names:
        assert 0 < len(name) < 200
        assert "/" not in name
        assert "\\" not in name
        assert not name.startswith(".")


def test_a_plain_id_is_its_own_name() -> None:
    assert safe_name("3f0c-11aa_B") == "3f0c-11aa_B"
    assert safe_name(None) == "default"
    assert safe_name("default") != "default"
    assert safe_name("nul") != "nul"
