"""Where a session works makes no difference: in its project, or in a copy that stands for it."""

from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.cassettes.baseline import baseline
from amplifier_tui.host.cassettes.cassette import Cassette, TapedRequest, TapedSystem
from amplifier_tui.host.cassettes.comparing import differences
from amplifier_tui.host.cassettes.conversing import Replayed, ReplayOrder, play
from amplifier_tui.host.door.local_client import LocalClient
from tests.host.cassettes.test_interplay import recorded
from tests.host.driving import Driver, Project, calling


def replayed(project: Project, cassette: Cassette, **order: Any) -> Replayed:
    return play(cassette, ReplayOrder(project.folder, **order), LocalClient(trust_everything))


def found(project: Project, cassette: Cassette, **order: Any) -> list[str]:
    now = replayed(project, cassette, **order).cassette
    return [str(each) for each in differences(cassette, now, order.get("tools", "cassette"))]


@pytest.fixture
def cassette(project: Project, driver: Driver) -> Cassette:
    """A session that is told, by its bundle, a prompt and a file, where its project is."""
    (project.folder / "where.txt").write_text(f"It is in {project.folder}/src.\n")
    script = calling({"read_file": {"file_path": "where.txt"}})
    name = project.bundle(script=script, tools=("tool-filesystem",))
    path = project.bundles / f"{name}.md"
    head, body = path.read_text().rsplit("---\n", 1)
    path.write_text(f"{head}context: {{include: [house-rules.md]}}\n---\n{body}")
    (project.bundles / "house-rules.md").write_text("Be careful.\n")
    (project.bundles / "more-rules.md").write_text("Be quick.\n")
    session = driver.open(name).session_id
    driver.turn(f"see @{name}:more-rules.md and {project.folder}/where.txt")
    driver.close()
    heard = recorded(project, session)
    made = baseline(heard, replayed(project, heard))
    assert "{{workspace}}/.amplifier/bundles/house-rules.md" in texts(made, TapedSystem)
    assert "{{workspace}}/.amplifier/bundles/more-rules.md" in texts(made, TapedRequest)
    return made


def texts(cassette: Cassette, kind: type[Any]) -> str:
    return str([str(each) for each in cassette.of(kind)])


def test_files_of_the_projects_bundle_are_the_same_ones_where_tools_are_real(
    project: Project, cassette: Cassette
) -> None:
    assert not found(project, cassette, tools="real")
    updated = baseline(cassette, replayed(project, cassette, tools="real"))
    assert not found(project, updated)
    (project.bundles / "house-rules.md").write_text("Be careless.\n")
    assert "Be careful." in str(found(project, cassette, tools="real"))


def test_files_of_the_projects_bundle_are_the_same_ones_in_a_workspace_of_its_own(
    project: Project, cassette: Cassette, tmp_path: Path
) -> None:
    folder = tmp_path / "a.workspace"
    folder.mkdir()
    assert not found(project, cassette, workspace=folder)


def test_a_cassette_that_told_a_copy_and_its_project_apart_is_played_without_a_difference(
    project: Project, cassette: Cassette
) -> None:
    old, new = "{{workspace}}/.amplifier", "{{project}}/.amplifier"

    def apart(row: Any) -> Any:
        if isinstance(row, TapedRequest):
            told = [each.replace(old, new) for each in row.told]
            return row.model_copy(update={"system": f"{row.system}0", "told": told})
        if isinstance(row, TapedSystem):
            text = row.text.replace(old, new)
            return row.model_copy(update={"id": f"{row.id}0", "text": text})
        return row

    before = cassette.model_copy(update={"rows": tuple(map(apart, cassette.rows))})
    assert new in texts(before, TapedSystem) and new in texts(before, TapedRequest)
    assert not found(project, before)
