"""Skills of a project, and those that bundles name, are asked about before they count."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.model import BundleData
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.foundation.trust.owners import Ownership
from amplifier_tui.foundation.trust.review import TrustReview
from amplifier_tui.foundation.trust.skills import review_skills


class Answers:
    """Says yes to what is called so."""

    def __init__(self, *yes: str, folders: Sequence[Path] = ()) -> None:
        self.yes = yes
        self.folders = folders
        self.seen: list[TrustItem] = []
        self.nobody = ()

    def known(self, item: TrustItem) -> bool:
        self.seen.append(item)
        return item.title in self.yes

    def bind(self, item: TrustItem, like: TrustItem) -> None:
        raise AssertionError("nothing here comes with anything")

    async def ask(self, items: Sequence[TrustItem]) -> Collection[str]:
        return ()


Write = Callable[[str], Path]


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def write(project: Path) -> Write:
    def write(name: str) -> Path:
        folder = project / name
        folder.mkdir(parents=True)
        text = f"---\nname: {folder.name}\ndescription: About {folder.name}.\n---\nDo it.\n"
        (folder / "SKILL.md").write_text(text)
        return folder

    return write


def reviewed(
    project: Path, answers: Answers, config: Any = None, **more: Any
) -> tuple[dict[str, Any], TrustReview]:
    """Review a bundle with the module; returns what its config became."""
    entry = {"module": "tool-skills", **({} if config is None else {"config": config}), **more}
    bundle = BundleData("team", tools=[entry], base_path=project / ".amplifier" / "bundles")
    places = Ownership(Path.home() / ".amplifier", project, (), answers.folders)
    review = TrustReview(places, answers)
    review_skills(bundle, review)
    return entry.get("config") or {}, review


def test_each_skill_of_the_project_is_asked_about_and_only_what_is_allowed_is_used(
    project: Path, write: Write
) -> None:
    good = write(".agents/skills/good")
    write(".claude/skills/other")
    third = write(".amplifier/skills/third")
    answers = Answers("good", "third")
    config, review = reviewed(project, answers)
    assert config == {"project_skills": [str(good), str(third)]}
    assert [item.title for item in answers.seen] == ["good", "other", "third"]
    assert answers.seen[0].group == "skills"
    assert answers.seen[0].detail == "About good."
    assert answers.seen[0].where == f"{good}/SKILL.md"
    assert [item.title for item in review.refused] == ["other"]


def test_an_answer_is_for_every_file_of_the_skill(project: Path, write: Write) -> None:
    folder = write(".agents/skills/good")
    answers = Answers()
    reviewed(project, answers)
    (folder / "run.sh").write_text("rm -r .\n")
    reviewed(project, answers)
    before, after = answers.seen
    assert after.detail == "About good. · with run.sh"
    assert before.subject == after.subject
    assert before.key != after.key


def test_a_project_that_is_the_users_own_is_not_asked_about(project: Path, write: Write) -> None:
    folder = write(".agents/skills/good")
    answers = Answers(folders=[project])
    assert reviewed(project, answers)[0] == {"project_skills": [str(folder)]}
    assert answers.seen == []


def test_who_works_in_the_home_folder_is_not_asked_about_skills_of_their_own(
    own_home: Path,
) -> None:
    for name in (".claude/skills/mine", ".amplifier/skills/mine"):
        (own_home / name).mkdir(parents=True)
        (own_home / name / "SKILL.md").write_text("---\nname: mine\ndescription: d\n---\n")
    answers = Answers()
    # The module reads these by itself.
    assert reviewed(own_home, answers)[0] == {"project_skills": []}
    assert answers.seen == []


def test_a_link_that_leads_out_of_the_project_is_left_out_whoever_allows_it(
    project: Path, write: Write, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "SKILL.md").write_text("---\nname: elsewhere\ndescription: d\n---\n")
    (project / ".agents" / "skills").mkdir(parents=True)
    (project / ".agents" / "skills" / "elsewhere").symlink_to(elsewhere)
    config, review = reviewed(project, Answers("elsewhere"))
    assert config == {"project_skills": []}
    assert [item.why for item in review.left_out.values()] == [
        "it is a link that leads out of the project"
    ]


def test_what_a_bundle_names_is_found_in_its_folder_and_nowhere_above(
    project: Path, write: Write
) -> None:
    inside = write(".amplifier/bundles/skills/inside")
    write("above")
    answers = Answers("inside", "above")
    config, review = reviewed(project, answers, {"skills": ["@team:skills", "@team:../../above"]})
    assert config["skills"] == [str(inside)]
    assert [item.why for item in review.left_out.values()] == [
        "@team:../../above leads out of the bundle's folder"
    ]


@pytest.mark.parametrize("text", ["../elsewhere", "link", "./words/../../elsewhere"])
def test_what_a_setting_names_from_the_project_on_never_leads_out_of_it(
    project: Path, tmp_path: Path, text: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "SKILL.md").write_text("---\nname: elsewhere\ndescription: d\n---\n")
    (project / "words").mkdir()
    (project / "link").symlink_to(elsewhere)
    config, review = reviewed(project, Answers("elsewhere"), {"skills": text})
    assert config["skills"] == []
    assert [item.why for item in review.left_out.values()] == [f"{text} leads out of the project"]
    config, _ = reviewed(project, Answers(folders=[project]), {"skills": text})
    assert config["skills"] == [str(project / text)]


def test_a_folder_of_the_project_in_a_setting_is_asked_about_too(
    project: Path, write: Write
) -> None:
    write("words/one")
    answers = Answers()
    assert reviewed(project, answers, {"skills": "words"})[0]["skills"] == []
    assert [item.title for item in answers.seen] == ["one"]


@pytest.mark.parametrize("text", ["@team:skillz", "./nope"])
def test_a_folder_that_is_not_there_is_left_out_and_said(project: Path, text: str) -> None:
    config, review = reviewed(project, Answers(), {"skills": [text]})
    assert config["skills"] == []
    assert [item.why for item in review.left_out.values()] == [f"{text}: there is no such folder"]


def test_the_users_own_folders_and_unknown_bundles_stay_as_they_are(
    project: Path, own_home: Path
) -> None:
    answers = Answers()
    config, _ = reviewed(project, answers, {"skills": ["~/mine", "@nobody:skills"]})
    assert config["skills"] == [str(own_home / "mine"), "@nobody:skills"]
    assert answers.seen == []


def test_another_module_of_that_id_keeps_its_settings(project: Path, write: Write) -> None:
    write("words/one")
    own = {"skills": ["words"]}
    assert reviewed(project, Answers(), own, source="git+https://example.org/x")[0] == own


def test_a_skill_that_says_nothing_readable_of_itself_is_asked_about_all_the_same(
    project: Path, write: Write
) -> None:
    (write(".agents/skills/odd") / "SKILL.md").write_text("---\n: [\n---\n")
    answers = Answers()
    reviewed(project, answers)
    assert answers.seen[0].detail == "its description can't be read"
