from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.capabilities.prompt_commands import CHANNEL, PromptCommand
from amplifier_tui.base.tokens import text_tokens
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import ToolResult
from amplifier_tui.modules import tool_skills
from amplifier_tui.modules.tool_skills.finding import FoundSkills, find_skills
from amplifier_tui.modules.tool_skills.listing import listing
from amplifier_tui.modules.tool_skills.settings import SkillsSettings
from amplifier_tui.modules.tool_skills.skill import SkillError, read_skill

Write = Callable[..., Path]


@pytest.fixture
def write(own_home: Path) -> Write:
    def write(
        name: str = "deploy",
        head: str = "",
        body: str = "Say where to.",
        at: str = ".claude/skills",
        description: str = "Brings a release to the servers.",
    ) -> Path:
        folder = own_home / at / name
        folder.mkdir(parents=True)
        text = head or f"name: {name}\ndescription: {description}\n"
        (folder / "SKILL.md").write_text(f"---\n{text}---\n\n{body}\n")
        return folder

    return write


class Mounted:
    """The module in a session, and what it told the hooks."""

    def __init__(self) -> None:
        self.coordinator = ModuleCoordinator()
        self.told: list[tuple[str, dict[str, Any]]] = []
        for event in ("user:notification", "skill:loaded", "skills:discovered"):
            self.coordinator.hooks.register(event, self._hear)

    async def _hear(self, event: str, data: dict[str, Any]) -> None:
        self.told.append((event, data))

    async def call(self, **arguments: Any) -> ToolResult:
        result: ToolResult = await self.coordinator.get("tools", "load_skill").execute(arguments)
        return result

    async def commands(self) -> list[PromptCommand]:
        (offered,) = await self.coordinator.collect_contributions(CHANNEL)
        return list(offered)

    @property
    def said(self) -> list[str]:
        return [data["message"] for event, data in self.told if event == "user:notification"]


async def mounted(**config: Any) -> Mounted:
    found = Mounted()
    await tool_skills.mount(found.coordinator, config)
    return found


def found(home: Path, **config: Any) -> FoundSkills:
    return find_skills(SkillsSettings.read(config), home / "project", home / ".amplifier")


async def test_the_model_sees_name_and_description_and_reads_the_rest_when_it_asks(
    write: Write,
) -> None:
    folder = write(body="Ask for the server first.\n\n`!touch ran`")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "push.sh").write_text("echo pushed\n")
    session = await mounted()
    tool = session.coordinator.get("tools", "load_skill")
    assert "- deploy: Brings a release to the servers." in tool.description
    assert "Ask for the server" not in tool.description
    text = str((await session.call(skill_name="deploy")).output)
    assert "Ask for the server first." in text
    assert str(folder) in text
    assert "scripts/push.sh" in text
    script = await session.call(skill_name="deploy", file="scripts/push.sh")
    assert script.output == "echo pushed\n"
    loaded = [data["file"] for event, data in session.told if event == "skill:loaded"]
    assert loaded == ["SKILL.md", "scripts/push.sh"]
    assert not (folder / "ran").exists()


async def test_a_session_without_skills_says_so_and_answers_every_call(own_home: Path) -> None:
    session = await mounted()
    assert "none in this session" in session.coordinator.get("tools", "load_skill").description
    result = await session.call(skill_name="deploy")
    assert not result.success
    assert await session.commands() == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "`skill_name` is missing"),
        ({"skill_name": "nothing"}, "There is no skill 'nothing'"),
        ({"skill_name": ["deploy"]}, "`skill_name` must be a text"),
        ({"skill_name": "deploy", "path": "x"}, "`path` is unknown"),
        ({"skill_name": "deploy", "file": "../other/SKILL.md"}, "outside of the skill"),
        ({"skill_name": "deploy", "file": "/etc/passwd"}, "outside of the skill"),
        ({"skill_name": "deploy", "file": "link"}, "outside of the skill"),
        ({"skill_name": "deploy", "file": ".env"}, "usually holds keys"),
        ({"skill_name": "deploy", "file": "missing.md"}, "There are: image.png"),
        ({"skill_name": "deploy", "file": "."}, "is no file"),
        ({"skill_name": "deploy", "file": "image.png"}, "is no text"),
        ({"skill_name": "deploy", "file": "a\0b"}, "can't be read"),
    ],
)
async def test_a_call_that_can_not_be_done_says_why(
    write: Write, tmp_path: Path, arguments: dict[str, Any], says: str
) -> None:
    write("other")
    folder = write()
    (tmp_path / "diary").write_text("private")
    (folder / "link").symlink_to(tmp_path / "diary")
    (folder / ".env").write_text("KEY=1")
    (folder / "image.png").write_bytes(b"\x89PNG\0")
    result = await (await mounted()).call(**arguments)
    assert not result.success
    assert says in str(result.output)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Just words.\n", ":1: no frontmatter"),
        ("---\nname: x\n", ":1: the frontmatter has no end"),
        ("---\ndescription: d\n---\n", ":1: `name` is missing"),
        ("---\nname: bad\n---\n", ":1: `description` is missing"),
        ("---\ndescription: d\nname: Not a Name\n---\n", ":3: `name` must be lower-case"),
        (f"---\nname: {'x' * 65}\ndescription: d\n---\n", ":2: `name` must be"),
        ("---\nname: bad\ndescription: Use it: always\n---\n", ":3: mapping values"),
        ("---\n- a\n- b\n---\n", ":2: the frontmatter is no mapping"),
        ("---\nname: bad\ndescription: d\nuser-invocable: maybe\n---\n", ":4: `user-invocable`"),
        (f"---\nname: bad\ndescription: {'[' * 5_000}\n---\n", ":2: the frontmatter can't be read"),
        (f"---\nname: bad\ndescription: {'x' * 20_000}\n---\n", ":2: a frontmatter of over 16 KiB"),
        ("---\nname: bad\ndescription: \xff\n---\n", ":3: not UTF-8"),
        ("x" * 300_000, ":1: larger than 256 KiB"),
    ],
)
def test_what_is_wrong_with_a_skill_is_said_with_file_and_line(
    tmp_path: Path, text: str, says: str
) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(text.encode("latin-1"))
    with pytest.raises(SkillError) as raised:
        read_skill(folder)
    assert str(raised.value).startswith(f"{folder}/SKILL.md")
    assert says in str(raised.value)


async def test_bad_skills_cost_the_good_ones_nothing_and_the_user_is_told(write: Write) -> None:
    write("good")
    for number in range(7):
        write(f"bad-{number}", head="description: no name\n")
    session = await mounted()
    assert "- good:" in session.coordinator.get("tools", "load_skill").description
    assert len(session.said) == 6
    assert "bad-0/SKILL.md:1: `name` is missing" in session.said[0]
    assert session.said[-1] == "2 more problems with skills are logged"


def test_of_two_with_one_name_the_projects_is_used_and_that_is_said(
    own_home: Path, write: Write
) -> None:
    mine = write(at=".agents/skills")
    write(at=".claude/skills")
    project = write(at="project/.claude/skills")
    both = found(own_home, project_skills=[str(project)])
    assert both.skills["deploy"].folder == project
    assert len(both.problems) == 2
    assert f"{project} is used, {mine} is not" in both.problems[0]
    assert found(own_home).skills["deploy"].folder == mine


def test_one_folder_by_two_ways_is_one_skill(own_home: Path, write: Write) -> None:
    folder = write(at=".agents/skills")
    (own_home / ".claude").mkdir()
    (own_home / ".claude" / "skills").symlink_to(folder.parent)
    once = found(own_home)
    assert list(once.skills) == ["deploy"]
    assert once.problems == []


def test_skills_come_from_the_homes_and_from_the_settings(own_home: Path, write: Write) -> None:
    write("one", at=".amplifier/skills")
    more = write("two", at="elsewhere")
    assert set(found(own_home, skills=[str(more.parent)]).skills) == {"one", "two"}
    assert set(found(own_home, skills=[str(more)]).skills) == {"one", "two"}
    assert set(found(own_home, skills=["~/elsewhere"], user_skills=False).skills) == {"two"}


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("@team:skills", "Include the bundle it is part of"),
        ("git+https://example.org/skills", "Include the bundle it is part of"),
        ("nowhere", "there is no such folder"),
        ("~nobody-at-all/skills", "skills"),
        ("a\0b", "skills"),
    ],
)
def test_a_setting_that_leads_nowhere_is_said(own_home: Path, place: str, says: str) -> None:
    (problem,) = found(own_home, skills=[place]).problems
    assert says in problem


def test_a_skill_whose_name_is_not_its_folders_is_used_and_that_is_said(write: Write) -> None:
    folder = write("folder", head="name: other\ndescription: d\n")
    skill = read_skill(folder)
    assert skill.name == "other"
    assert "SKILL.md:2: the skill is called other and its folder folder" in skill.notes[0]


def test_a_skill_file_that_is_a_link_out_of_its_folder_is_not_read(
    write: Write, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("---\nname: deploy\ndescription: d\n---\nPRIVATE\n")
    folder = write()
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to(secret)
    with pytest.raises(SkillError, match="leads out of the skill's folder"):
        read_skill(folder)


async def test_a_file_of_a_skill_is_not_read_past_a_link_that_came_after_the_check(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write()
    for place, text in ((folder / "notes", "ours"), (tmp_path / "outside", "PRIVATE")):
        place.mkdir()
        (place / "a.md").write_text(text)
    session = await mounted()

    def swapped(path: Path) -> bool:
        (folder / "notes").rename(folder / "moved")
        (folder / "notes").symlink_to(tmp_path / "outside")
        return False

    monkeypatch.setattr("amplifier_tui.modules.tool_skills.tool.holds_secrets", swapped)
    result = await session.call(skill_name="deploy", file="notes/a.md")
    assert (folder / "notes").is_symlink()
    assert not result.success and "PRIVATE" not in str(result.output)


def test_a_description_is_one_clean_line(write: Write) -> None:
    folder = write(head='name: deploy\ndescription: "A\\e[2J\\nB\\u202E C"\n')
    assert read_skill(folder).description == "A B C"


@pytest.mark.parametrize("budget", [100, 400, 2_000])
def test_the_list_keeps_to_its_tokens_and_says_what_is_left_out(
    own_home: Path, write: Write, budget: int
) -> None:
    for number in range(60):
        write(f"skill-{number:02}", description=f"Number {number}. " + "words " * 60)
    skills = list(found(own_home).skills.values())
    text = listing(skills, budget)
    assert text_tokens(text) <= budget + 20
    named = text.count("- skill-")
    assert (f"{60 - named} more" in text) is (named < 60)
    if budget == 2_000:
        assert text.count("- skill-") == 60
        assert "Number 59." in text


async def test_skills_that_are_not_listed_are_found_by_their_words(write: Write) -> None:
    for number in range(60):
        write(f"skill-{number:02}", description=f"Does thing {number}.")
    write("zebra", description="Paints stripes on horses.")
    session = await mounted(max_listing_tokens=100)
    assert "zebra" not in session.coordinator.get("tools", "load_skill").description
    assert "zebra" in str((await session.call(search="horses stripes")).output)
    assert (await session.call(search="submarine")).output == "No skill has these words."


async def test_the_user_gives_a_skill_with_words_of_their_own(write: Write) -> None:
    write(body="Go to $ARGUMENTS.")
    write("plain", body="Look around.")
    session = await mounted()
    by_name = {command.name: command for command in await session.commands()}
    assert "Go to staging." in await by_name["deploy"].expand("staging")
    text = await by_name["plain"].expand("the attic first")
    assert "Look around." in text
    assert text.endswith("the attic first")
    assert by_name["plain"].full_name == "skill:plain"


async def test_a_skill_says_whether_model_and_user_may_use_it(write: Write) -> None:
    write("users", head="name: users\ndescription: d\ndisable-model-invocation: true\n")
    write("models", head="name: models\ndescription: d\nuser-invocable: false\n")
    session = await mounted()
    assert [command.name for command in await session.commands()] == ["users"]
    description = session.coordinator.get("tools", "load_skill").description
    assert "- models:" in description
    assert "users:" not in description
    assert not (await session.call(skill_name="users")).success


def test_keys_that_grow_by_their_aliases_cost_nothing(write: Write) -> None:
    rows = ["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60))]
    head = "\n".join(["name: deploy", "description: d", *rows, "? [*a59]", ": x", ""])
    assert read_skill(write(head=head)).name == "deploy"


async def test_very_long_instructions_are_cut_and_that_is_said(write: Write) -> None:
    write(body="x" * 5_000)
    session = await mounted(max_chars=1_000)
    text = str((await session.call(skill_name="deploy")).output)
    assert "cut after 1000 characters" in text
    assert len(text) < 1_500


async def test_what_a_skill_says_is_what_it_said_when_the_session_opened(write: Write) -> None:
    folder = write(body="Be careful.")
    session = await mounted()
    (folder / "SKILL.md").write_text("---\nname: deploy\ndescription: d\n---\nBe reckless.\n")
    assert "Be careful." in str((await session.call(skill_name="deploy")).output)
