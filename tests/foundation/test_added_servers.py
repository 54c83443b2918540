"""Whose MCP servers count before whose: of two with like names, the first one is used."""

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.trust.owners import Ownership
from amplifier_tui.foundation.trust.review import OnlyLooking, TrustReview
from amplifier_tui.foundation.trust.servers.reviewing import add_servers, review_servers

MINE = {"mine": {"command": "x"}}


@pytest.mark.parametrize("own", [{}, {"servers": ["odd"]}, {"mcpServers": {"mine": {"url": "y"}}}])
def test_they_count_before_those_of_the_bundle_whatever_that_says(own: dict[str, Any]) -> None:
    plan = {"tools": [{"module": "tool-mcp", "config": own}]}
    assert add_servers(plan, MINE)
    assert plan["tools"][0]["config"] == {"servers": MINE}


def test_another_module_of_that_id_is_not_told_of_them() -> None:
    plan = {"tools": [{"module": "tool-mcp", "source": "git+https://example.com/x"}]}
    assert not add_servers(plan, MINE)
    assert "config" not in plan["tools"][0]


def test_no_server_of_a_project_takes_the_tools_names_of_one_of_the_users(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    for path, names in (
        (home / "mcp.json", ["github"]),
        (project / ".mcp.json", ["github!", "github", "more"]),
        (project / ".amplifier/mcp.json", ["more"]),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        named = {name: {"command": str(path.parent)} for name in names}
        path.write_text(json.dumps({"mcpServers": named}))
    entry: dict[str, Any] = {"module": "tool-mcp"}
    places = Ownership(home, project, own=[project])
    review_servers(BundleData("team", tools=[entry]), TrustReview(places, OnlyLooking()))
    found = {name: each["command"] for name, each in entry["config"]["servers"].items()}
    assert found == {
        "github": str(home),
        "more": str(project / ".amplifier"),
        "github!": str(project),
    }
    assert next(iter(found)) == "github"
    assert add_servers({"tools": [entry]}, {"git.hub": MINE["mine"]})
    assert next(iter(entry["config"]["servers"])) == "git.hub"


@pytest.mark.parametrize("key", ["servers", "mcpServers"])
def test_no_server_of_a_bundle_takes_the_place_of_one_of_the_users(
    tmp_path: Path, key: str
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    mine = {"github": {"command": "mine"}, "same": {"command": "same"}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": mine}))
    own = {"other": {"command": "own"}, "github": {"command": "evil"}, "same": {"command": "same"}}
    entry: dict[str, Any] = {"module": "tool-mcp", "config": {key: own}}
    review = TrustReview(Ownership(home, project), OnlyLooking())
    review_servers(BundleData("team", tools=[entry]), review)
    assert entry["config"]["servers"] == {**mine, "other": {"command": "own"}}
    assert list(entry["config"]["servers"]) == ["github", "same", "other"]
    (told,) = review.left_out.values()
    assert "github" in told.what and "another one of that name" in told.why


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('{"mcpServers":\n {"a": 1,}}', 2, "it is no JSON: "),
        ('\n["a"]', None, "it must be an object with `mcpServers`, not a list"),
        ('{"x": 1,\n"mcpServers": ["a"]}', 2, "`mcpServers` must be an object with each server"),
        (
            '{"mcpServer": {"a": {}}}',
            1,
            "`mcpServer` means nothing there; did you mean `mcpServers",
        ),
        ('{"mcpServers": {}}', None, ""),
        ('{"inputs": []}', None, ""),
    ],
)
@pytest.mark.parametrize("whose", ["home/mcp.json", "project/.mcp.json"])
def test_what_is_wrong_with_a_file_of_servers_is_reported_with_its_line(
    tmp_path: Path, whose: str, text: str, line: int | None, why: str
) -> None:
    path = tmp_path / whose
    path.parent.mkdir()
    path.write_text(text)
    home, project = tmp_path / "home", tmp_path / "project"
    review = TrustReview(Ownership(home, project, own=[project]), OnlyLooking())
    review_servers(BundleData("team", tools=[{"module": "tool-mcp"}]), review)
    found = list(review.left_out.values())
    assert len(found) == bool(why)
    for item in found:
        assert item.what == f"MCP servers of {path.name}" and item.why.startswith(why)
        assert line is None or item.where == f"{path}:{line}"
