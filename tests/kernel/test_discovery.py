from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from amplifier_tui.kernel.mounting import discovery
from amplifier_tui.kernel.mounting.discovery import (
    FoundModule,
    declared_kind,
    declared_type,
    find_modules,
    search_dirs,
)
from amplifier_tui.kernel.mounting.packages.finding import declared_modules, find_package_dir


def entry_points(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    found = {name: EntryPoint(name, value, "amplifier.modules") for name, value in values.items()}
    monkeypatch.setattr(discovery, "installed_modules", lambda: found)


def package(folder: Path, source: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(source)
    return folder


def test_the_environment_names_the_search_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMPLIFIER_MODULES", "/a::/b")
    assert search_dirs() == [Path("/a"), Path("/b")]
    monkeypatch.delenv("AMPLIFIER_MODULES")
    assert search_dirs() == []


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("amplifier_tui.modules.tool_bash:mount", True),
        ("amplifier_tui.modules.nothing:mount", False),
        ("amplifier_tui.paths.nothing:mount", False),
        ("nowhere_at_all:mount", False),
        ("nowhere_at_all.deep.er:mount", False),
        ("sys:mount", False),
        (":mount", False),
    ],
)
def test_an_installed_module_is_located_if_that_needs_no_import(
    value: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry_points(monkeypatch, **{"tool-x": value})
    [found] = find_modules([])
    assert bool(found.location) is known
    assert (found.id, found.kind, found.version) == ("tool-x", "tool", "1.0.0")
    assert (found.distribution, found.entry_point) == ("", value)


def test_a_folder_that_is_no_package_yet_is_listed_without_a_location(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path / "amplifier_broken_parent")
    (tmp_path / "amplifier_broken_parent" / "unfinished").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    entry_points(monkeypatch, **{"hooks-x": "amplifier_broken_parent.unfinished:mount"})
    [found] = find_modules([])
    assert (found.kind, found.location) == ("hook", "")


def test_a_folder_tells_its_version_and_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry_points(monkeypatch)
    for name in ("a", "b"):
        source = "__amplifier_module_type__ = 'hook'\n" if name == "a" else ""
        package(tmp_path / f"amplifier-module-{name}" / f"amplifier_module_{name}", source)
    (tmp_path / "amplifier-module-a" / "pyproject.toml").write_text('[project]\nversion = "2.1"\n')
    (tmp_path / "amplifier-module-b" / "pyproject.toml").write_text("project = 5\n")
    (tmp_path / "amplifier-module-c").touch()
    (tmp_path / "other").mkdir()
    assert find_modules([tmp_path]) == [
        FoundModule("a", "hook", "2.1", "", str(tmp_path / "amplifier-module-a")),
        FoundModule("b", "tool", "1.0.0", "", str(tmp_path / "amplifier-module-b")),
    ]


def test_a_search_path_that_can_not_be_read_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    entry_points(monkeypatch)

    def refuse(self: Path) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert find_modules([tmp_path, tmp_path / "missing"]) == []
    assert f"Module search path {tmp_path} can't be read: not yours" in caplog.text
    assert f"Module search path {tmp_path / 'missing'} does not exist" in caplog.text


@pytest.mark.parametrize(
    ("source", "declared"),
    [
        (b'__amplifier_module_type__ = "hook"\n', "hook"),
        (b"x = 1\n__amplifier_module_type__: str = 'gadget'\r\n", "gadget"),
        (b"    __amplifier_module_type__ = 'hook'\n", None),
        (b"__amplifier_module_type__ = KIND\n", None),
        (b"\xff\xfe\x00", None),
        (b"", None),
    ],
)
def test_the_declared_type_is_read_without_executing(
    source: bytes, declared: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "m.py"
    file.write_bytes(source)
    assert declared_type(file) == declared
    assert declared_kind("context-x", file) == ("hook" if declared == "hook" else "context")


def test_without_a_file_the_id_decides(tmp_path: Path) -> None:
    assert declared_type(None) is None
    assert declared_type(tmp_path / "missing") is None
    assert declared_kind("loop-x", None) == "orchestrator"


# -- where the package is --------------------------------------------------------------------------


def project(folder: Path, entry: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text(
        f'[project.entry-points."amplifier.modules"]\nmy-tool = "{entry}"\n'
    )
    return folder


@pytest.mark.parametrize("root", ["", "src"])
def test_a_package_of_another_name_is_found_by_the_projects_entry_point(
    root: str, tmp_path: Path
) -> None:
    expected = package(tmp_path / root / "my_package")
    package(tmp_path / root / "another")
    project(tmp_path, "my_package.deep:mount")
    assert find_package_dir("my-tool", tmp_path) == expected
    assert find_package_dir("some-other-id", tmp_path) == expected


def test_a_package_by_the_conventional_name_comes_first(tmp_path: Path) -> None:
    conventional = package(tmp_path / "src" / "amplifier_module_my_tool")
    package(tmp_path / "my_package")
    assert find_package_dir("my-tool", project(tmp_path, "my_package:mount")) == conventional


@pytest.mark.parametrize(
    "entry", ["../outside:mount", "/etc:mount", "..:mount", "no-name:mount", ""]
)
def test_an_entry_point_never_leads_out_of_the_project(entry: str, tmp_path: Path) -> None:
    package(tmp_path / "outside")
    assert find_package_dir("my-tool", project(tmp_path / "project", entry)) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not toml [",
        "project = 1",
        "[project]\nentry-points = 1",
        '[project.entry-points]\n"amplifier.modules" = 1',
        '[project.entry-points."amplifier.modules"]\na = 1',
    ],
)
def test_a_pyproject_that_makes_no_sense_declares_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert declared_modules(tmp_path) == {}
