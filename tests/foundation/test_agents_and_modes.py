from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.definitions import load_modes, read_agent_file
from amplifier_tui.foundation.bundle.model import Origin
from tests.foundation.helpers import write

AGENT = """---
meta:
  name: explorer
  description: Looks around
  color: blue
tools:
  - tool-search
  - {module: tool-x, source: ./x}
model_role: fast
provider_preferences: [{provider: a, model: b}]
session: {orchestrator: {config: {max_iterations: 3}}}
agents: none
---

You explore.
"""


def test_an_agent_file_becomes_a_definition(tmp_path: Path) -> None:
    path = write(tmp_path / "agents" / "explorer.md", AGENT)
    assert read_agent_file(path, "fallback") == {
        "name": "explorer",
        "description": "Looks around",
        "color": "blue",
        "tools": ["tool-search", {"module": "tool-x", "source": str(tmp_path / "agents" / "x")}],
        "model_role": "fast",
        "provider_preferences": [{"provider": "a", "model": "b"}],
        "session": {"orchestrator": {"config": {"max_iterations": 3}}},
        "agents": "none",
        "instruction": "You explore.",
    }


EVERYWHERE = """---
meta:
  name: thinker
  model_role: [reasoning, general]
  provider_preferences: [{provider: a, model: b}]
  tools: [{module: tool-x, source: ./x}]
  exclude_tools: [tool-y]
  agents: [helper]
model_role: fast
color: blue
unheard_of: {deep: 1}
hooks:
---
You think.
"""


def test_every_key_of_an_agent_file_is_kept_at_top_level_and_below_meta(tmp_path: Path) -> None:
    agent = read_agent_file(write(tmp_path / "a.md", EVERYWHERE), "a")
    assert agent == {
        "name": "thinker",
        "description": "",
        "model_role": "fast",
        "provider_preferences": [{"provider": "a", "model": "b"}],
        "tools": [{"module": "tool-x", "source": str(tmp_path / "x")}],
        "exclude_tools": ["tool-y"],
        "agents": ["helper"],
        "color": "blue",
        "unheard_of": {"deep": 1},
        "instruction": "You think.",
    }


def test_without_meta_a_named_frontmatter_is_the_meta(tmp_path: Path) -> None:
    path = write(tmp_path / "a.md", "---\ndescription: d\ntools: [t]\n---\nbody")
    agent = read_agent_file(path, "a")
    assert agent == {"name": "a", "description": "d", "tools": ["t"], "instruction": "body"}
    bare = read_agent_file(write(tmp_path / "b.md", "only text"), "b")
    assert bare == {"name": "b", "description": "", "instruction": "only text"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("agents: all", "all"), ("agents: [x]", ["x"]), ("agents: {include: [x]}", None)],
)
def test_delegation_is_all_none_or_a_list(tmp_path: Path, text: str, expected: Any) -> None:
    agent = read_agent_file(write(tmp_path / "a.md", f"---\n{text}\n---\n"), "a")
    assert agent.get("agents") == expected


@pytest.mark.parametrize("text", ["agents: some", "agents: 5"])
def test_other_delegation_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="'all', 'none' or a list"):
        read_agent_file(write(tmp_path / "a.md", f"---\n{text}\n---\n"), "a")


def test_agent_files_are_found_by_namespace_and_next_to_the_bundle(tmp_path: Path) -> None:
    for folder in ("me", "ns"):
        write(tmp_path / folder / "agents" / "a.md", "")
    bundle = Bundle(name="me", base_path=tmp_path / "me", source_base_paths={"ns": tmp_path / "ns"})
    assert bundle.resolve_agent_path("ns:a") == tmp_path / "ns/agents/a.md"
    assert bundle.resolve_agent_path("me:a") == tmp_path / "me/agents/a.md"
    assert bundle.resolve_agent_path("a") == tmp_path / "me/agents/a.md"
    assert bundle.resolve_agent_path("no") is None
    assert bundle.resolve_agent_path("other:a") is None


def test_a_plain_agent_of_an_included_bundle_is_found_at_that_bundle(tmp_path: Path) -> None:
    write(tmp_path / "inner" / "agents" / "a.md", "hi")
    inner = Bundle.from_dict(
        {"bundle": {"name": "inner"}, "agents": {"include": ["a"]}}, tmp_path / "inner"
    )
    outer = inner.compose(Bundle(name="outer", base_path=tmp_path))
    assert outer.origins["agent:a"] == [Origin("inner")]
    assert outer.resolve_agent_path("a") == tmp_path / "inner/agents/a.md"


def test_only_missing_and_empty_parts_of_a_definition_are_filled(tmp_path: Path) -> None:
    write(tmp_path / "agents" / "a.md", AGENT)
    bundle = Bundle(
        name="me",
        base_path=tmp_path,
        agents={"me:a": {"name": "me:a", "description": "", "model_role": "mine"}},
    )
    plan = bundle.to_mount_plan()
    bundle.load_agent_metadata()
    agent = bundle.agents["me:a"]
    assert (agent["name"], agent["description"]) == ("me:a", "Looks around")
    assert (agent["model_role"], agent["instruction"]) == ("mine", "You explore.")
    assert plan["agents"]["me:a"] is agent


def test_one_broken_agent_file_does_not_cost_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "agents" / "bad.md", "---\na: [\n---\n")
    write(tmp_path / "agents" / "list.md", "---\n- a\n---\n")
    write(tmp_path / "agents" / "good.md", "text")
    roster = {name: {"name": name} for name in ("bad", "list", "good")}
    bundle = Bundle(name="x", base_path=tmp_path, agents=roster)
    bundle.load_agent_metadata()
    assert bundle.agents["good"]["instruction"] == "text"
    assert "bad" in caplog.text and "list" in caplog.text


def test_an_agent_path_cannot_leave_a_fetched_bundle(tmp_path: Path) -> None:
    write(tmp_path / "secret.md", "x")
    root = tmp_path / "cache" / "b"
    (root / "agents").mkdir(parents=True)
    bundle = Bundle(name="x", base_path=root, confined_roots=(root,))
    assert bundle.resolve_agent_path("../../../secret") is None
    assert bundle.resolve_context_path("../../secret.md") is None


def test_modes_are_read_with_their_defaults(tmp_path: Path) -> None:
    write(tmp_path / "modes" / "plan.md", "---\nmode: {description: d, extra: 1}\n---\nPlan first.")
    write(tmp_path / "modes" / "bad.md", "---\nmode: 5\n---\n")
    assert load_modes(Bundle(name="x", base_path=tmp_path)) == {
        "plan": {
            "name": "plan",
            "description": "d",
            "advertised": True,
            "contributes": {},
            "extra": 1,
            "instruction": "Plan first.",
        }
    }


def test_modes_are_checked_and_every_warning_is_returned_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    modes = {
        "broken": "a: [",
        "kind": "mode: {contributes: 5}",
        "unknown": "mode: {contributes: {tools: []}}",
        "agents": "mode: {contributes: {agents: {a: 1}}}",
        "context": "mode: {contributes: {context: [1]}}",
        "roster": "mode: {contributes: {agents: [a]}}",
        "skills": "mode: {contributes: {skills: one}}",
        "fine": "mode: {contributes: {agents: {a: {}}, context: [x], skills: [y]}}",
    }
    for name, text in modes.items():
        write(tmp_path / "modes" / f"{name}.md", f"---\n{text}\n---\n")
    write(tmp_path / "modes" / "open.md", "---\nmode: {}\n--\nPlan.")
    warnings = Bundle(name="x", base_path=tmp_path).validate_modes()
    assert len(warnings) == 8
    assert "open" not in load_modes(Bundle(name="x", base_path=tmp_path))
    for name in ("open", "broken", "kind", "unknown", "agents", "context", "roster", "skills"):
        assert any(f"{name}.md" in warning for warning in warnings)
    assert "contributes.tools" in caplog.text
