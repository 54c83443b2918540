import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST = 500
TOP = {
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "amplifier_tui",
    "bundles",
    "pyproject.toml",
    "tests",
    "themes",
}


@pytest.fixture(scope="module")
def files() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for line in listed.stdout.splitlines() if (path := Path(line)) and _is_file(path)]


def _is_file(path: Path) -> bool:
    return (ROOT / path).is_file()


def test_no_file_of_code_is_longer_than_one_can_hold_in_mind(files: list[Path]) -> None:
    code = [path for path in files if path.suffix == ".py"]
    assert len(code) > 100
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in code}
    assert {path: count for path, count in lengths.items() if count > LONGEST} == {}


def test_the_top_level_holds_what_it_is_meant_to_hold(files: list[Path]) -> None:
    top = {path.parts[0] for path in files}
    assert {name for name in top if not name.startswith(".")} == TOP


def test_the_package_names_the_pythons_that_ci_tries() -> None:
    tried = re.findall(r"^for version in (.*); do$", (ROOT / ".ci/pythons").read_text(), re.M)
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', _project())
    assert [each.split() for each in tried] == [named] and len(named) > 1
    assert f'requires-python = ">={named[0]}' in _project()


def _project() -> str:
    return (ROOT / "pyproject.toml").read_text()


def test_every_page_that_a_page_leads_to_is_there(files: list[Path]) -> None:
    pages = [path for path in files if path.name in ("README.md", "CHANGELOG.md")]
    gone = [
        f"{page}: {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", (ROOT / page).read_text())
        if not (ROOT / page.parent / target).exists()
    ]
    assert gone == []
