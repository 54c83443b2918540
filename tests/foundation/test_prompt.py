from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.mentions import loading
from tests.foundation.helpers import write
from tests.foundation.stacks import entry, prepared, stack

Events = list[tuple[str, dict[str, Any]]]


def factory(bundle: Bundle, working_dir: Path, events: Events | None = None) -> SystemPromptFactory:
    async def emit(name: str, data: dict[str, Any]) -> None:
        if events is not None:
            events.append((name, data))

    return SystemPromptFactory(bundle, mention_resolver(bundle, working_dir), emit)


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    write(tmp_path / "b" / "style.md", "style @b:never.md")
    write(tmp_path / "b" / "never.md", "never")
    write(tmp_path / "b" / "more.md", "more @b:deep.md")
    write(tmp_path / "b" / "deep.md", "deep")
    write(tmp_path / "work" / "AGENTS.md", "project rules")
    source = Bundle.from_dict(
        {"bundle": {"name": "b"}, "context": {"include": ["style.md", "gone.md"]}}, tmp_path / "b"
    )
    source.instruction = "Act.\n@b:more.md @AGENTS.md @b:style.md"
    return source.compose()


async def test_the_prompt_is_instruction_context_files_and_mentioned_files(
    tmp_path: Path, bundle: Bundle
) -> None:
    prompt = await factory(bundle, tmp_path / "work")()
    assert prompt.startswith("Act.\n@b:more.md @AGENTS.md @b:style.md\n\n---\n\n<context_file")
    order = [prompt.index(text) for text in ("style @b", "more @b", "\ndeep", "project rules")]
    assert order == sorted(order)
    assert "\nnever" not in prompt
    assert prompt.count("style @b:never.md") == 1


async def test_every_part_has_its_source(tmp_path: Path, bundle: Bundle) -> None:
    make = factory(bundle, tmp_path / "work")
    parts = await make.parts()
    assert [source for source, _ in parts] == [
        "bundle:b",
        "file:@b:style.md",
        "file:@b:more.md",
        "file:@b:deep.md",
        "file:@AGENTS.md",
    ]
    text = "\n\n".join(text for _, text in parts[1:])
    assert await make() == f"{parts[0][1]}\n\n---\n\n{text}"


async def test_the_instruction_belongs_to_the_bundle_that_wrote_it(tmp_path: Path) -> None:
    base = Bundle(name="base", instruction="be")
    top = base.compose(Bundle(name="top"))
    assert await factory(top, tmp_path).parts() == [("bundle:base", "be")]
    own = SystemPromptFactory(
        top, mention_resolver(top, tmp_path), instruction="other", source_id="bundle:agent"
    )
    assert await own.parts() == [("bundle:agent", "other")]
    assert await own() == "other"


async def test_without_instruction_the_prompt_is_only_files(tmp_path: Path, bundle: Bundle) -> None:
    bundle.instruction = None
    assert (await factory(bundle, tmp_path)()).startswith("<context_file")
    assert await factory(Bundle(name="x"), tmp_path)() == ""
    assert await factory(Bundle(name="x"), tmp_path).parts() == []


async def test_files_are_read_again_on_every_call(tmp_path: Path, bundle: Bundle) -> None:
    make = factory(bundle, tmp_path / "work")
    assert "project rules" in await make()
    write(tmp_path / "work" / "AGENTS.md", "new rules")
    prompt = await make()
    assert "new rules" in prompt and "project rules" not in prompt


async def test_what_was_resolved_is_announced_when_something_is_new(
    tmp_path: Path, bundle: Bundle
) -> None:
    events: Events = []
    make = factory(bundle, tmp_path / "work", events)
    await make()
    (event,) = events
    assert event[0] == "mentions:resolved"
    data = event[1]
    assert (data["source"], data["turn"]) == ("bundle_context", None)
    by_mention = {entry["mention"]: entry for entry in data["resolutions"]}
    assert by_mention["@b:style.md"]["source_type"] == "bundle_context_decl"
    assert by_mention["@b:more.md"]["source_type"] == "bundle_namespace"
    assert by_mention["@AGENTS.md"]["source_type"] == "relative_path"
    assert by_mention["@AGENTS.md"]["resolved_path"] == str(tmp_path / "work" / "AGENTS.md")
    assert all(
        entry["is_new"] and len(entry["content_hash"]) == 64 for entry in by_mention.values()
    )
    assert data["failed"] == [{"mention": "@b:gone.md", "reason": "not_found"}]
    await make()
    await make.parts()
    assert len(events) == 1
    write(tmp_path / "work" / "AGENTS.md", "changed")
    await make()
    new = [entry["mention"] for entry in events[1][1]["resolutions"] if entry["is_new"]]
    assert new == ["@AGENTS.md"]


async def test_the_places_of_shortcuts_are_told_apart(tmp_path: Path, own_home: Path) -> None:
    write(own_home / ".amplifier" / "a.md", "1")
    write(own_home / "h.md", "2")
    write(tmp_path / ".amplifier" / "p.md", "3")
    bundle = Bundle(name="x", instruction="@~/.amplifier/a.md @~/h.md @.amplifier/p.md")
    events: Events = []
    await factory(bundle, tmp_path, events)()
    kinds = [entry["source_type"] for entry in events[0][1]["resolutions"]]
    assert kinds == ["user_shortcut", "home_shortcut", "project_shortcut"]


async def test_the_instruction_of_a_fetched_bundle_is_confined(tmp_path: Path) -> None:
    write(tmp_path / "secret.md", "secret")
    write(tmp_path / "work" / "AGENTS.md", "rules")
    root = tmp_path / "cache" / "c"
    root.mkdir(parents=True)
    bundle = Bundle(
        name="x",
        base_path=root,
        confined_roots=(root,),
        instruction="@../secret.md @../../secret.md @x:../../secret.md @AGENTS.md",
    )
    prompt = await factory(bundle, tmp_path / "work")()
    assert "secret</" not in prompt.replace("\n", "") and "rules" in prompt
    assert prompt.count("<context_file") == 1


async def test_the_instruction_of_a_local_bundle_is_not_confined_by_what_it_includes(
    tmp_path: Path,
) -> None:
    write(tmp_path / "shared.md", "shared")
    (tmp_path / "work").mkdir()
    root = tmp_path / "cache" / "c"
    root.mkdir(parents=True)
    fetched = Bundle(name="f", base_path=root, confined_roots=(root,), instruction="f")
    local = Bundle(name="l", base_path=tmp_path / "l", instruction="@../shared.md")
    composed = fetched.compose(local)
    assert "shared</" in (await factory(composed, tmp_path / "work")()).replace("\n", "")
    renamed = fetched.compose(Bundle(name="l", base_path=tmp_path / "l"))
    renamed.instruction = "@../shared.md"
    assert await factory(renamed, tmp_path / "work")() == "@../shared.md"


async def test_plain_mentions_of_an_instruction_fall_back_to_the_bundles_folder_and_users_do_not(
    tmp_path: Path,
) -> None:
    write(tmp_path / "b" / "note.md", "a note of the bundle")
    source = stack(tmp_path / "b")
    source.instruction = "@note.md"
    ready = await prepared(source)
    async with ready.create_session(session_cwd=tmp_path / "work") as session:
        assert "a note of" in await session.coordinator.get("context").factory()
        resolver = session.coordinator.get_capability("mention_resolver")
        assert resolver.resolve("@note.md") is None


async def test_a_context_manager_with_a_factory_gets_it_and_one_without_gets_a_message(
    tmp_path: Path,
) -> None:
    for plain in (False, True):
        source = stack(
            tmp_path,
            session={
                "orchestrator": entry("loop"),
                "context": entry("context", config={"plain": plain}),
            },
        )
        source.instruction = "Be brief."
        async with (await prepared(source)).create_session() as session:
            context = session.coordinator.get("context")
            if plain:
                assert context.messages == [{"role": "system", "content": "Be brief."}]
            else:
                assert await context.factory() == "Be brief."
                assert await context.factory.parts() == [("bundle:stacked", "Be brief.")]
            coordinator = session.coordinator
            contributed = await coordinator.collect_contributions("observability.events")
            assert ["mentions:resolved"] in contributed
            assert coordinator.get_capability("mention_resolver") is not None
            assert coordinator.get_capability("mention_deduplicator") is not None


async def test_a_bundle_without_anything_to_say_gives_no_prompt() -> None:
    async with (await prepared(stack())).create_session() as session:
        assert session.coordinator.get("context").factory is None
        contributed = await session.coordinator.collect_contributions("observability.events")
        assert ["mentions:resolved"] not in contributed


async def test_users_can_mention_files_whatever_the_bundle_says(tmp_path: Path) -> None:
    write(tmp_path / "n.md", "note")
    ready = await prepared(stack())
    async with ready.create_session(session_cwd=tmp_path) as session:
        resolver = session.coordinator.get_capability("mention_resolver")
        assert resolver.resolve("@n.md") == tmp_path / "n.md"
        assert session.coordinator.get_capability("mention_deduplicator") is not None


async def test_pending_context_is_resolved_when_a_session_starts(tmp_path: Path) -> None:
    write(tmp_path / "ns" / "c.md", "from the namespace")
    source = stack(tmp_path, context=["@ns:c.md"])
    source.source_base_paths["ns"] = tmp_path / "ns"
    async with (await prepared(source)).create_session() as session:
        assert "from the namespace" in await session.coordinator.get("context").factory()


async def test_what_is_no_readable_text_is_left_out_of_the_prompt_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setattr(loading, "MAX_BYTES", 50)
    write(tmp_path / "ok.md", "fine")
    write(tmp_path / "big.md", "x" * 51)
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    names = ["big.md", "binary.md", "folder", "pipe", "a\0b", "n" * 300, "ok.md"]
    source = Bundle.from_dict({"bundle": {"name": "b"}, "context": {"include": names}}, tmp_path)
    events: Events = []
    parts = await factory(source.compose(), tmp_path, events).parts()
    assert [source_id for source_id, _ in parts] == ["file:@b:ok.md"]
    failed = {entry["mention"]: entry["reason"] for entry in events[0][1]["failed"]}
    assert failed == {
        "@b:big.md": "too_large",
        "@b:binary.md": "not_text",
        "@b:folder": "not_a_file",
        "@b:pipe": "not_a_file",
        "@b:a\0b": "not_found",
        f"@b:{'n' * 300}": "read_error",
    }


async def test_what_the_user_adds_stands_at_the_end(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "more")
    bundle = Bundle(name="b", instruction="be", context={"a.md": tmp_path / "a.md"})
    resolver = mention_resolver(bundle, tmp_path)
    make = SystemPromptFactory(bundle, resolver, appended="Say please.")
    assert (await make()).endswith("\n\n---\n\nSay please.")
    assert (await make.parts())[-1] == ("user:system-append", "Say please.")
