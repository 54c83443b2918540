import os
import stat
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from amplifier_tui.foundation.exceptions import BundleError
from amplifier_tui.foundation.settings.keys import load_keys, remove_key, set_key
from amplifier_tui.foundation.settings.settings import Scope, SettingsFiles, load_settings
from amplifier_tui.foundation.settings.writing import edited, write_provider, write_setting
from tests.foundation.helpers import write

COMMENTED = """# my settings
bundle:
  active: old   # the one I like
  added:
    x: git+https://h/x
# the end
"""


@pytest.fixture
def files(own_home: Path, tmp_path: Path) -> SettingsFiles:
    return SettingsFiles.for_project(tmp_path / "proj")


def test_a_changed_value_leaves_comments_and_order_alone(files: SettingsFiles) -> None:
    path = write(files.home / "settings.yaml", COMMENTED)
    assert write_setting(files, Scope.GLOBAL, "bundle.active", "new") == path
    assert path.read_text() == COMMENTED.replace("old ", "new ")


def test_a_new_key_is_put_into_its_section(files: SettingsFiles) -> None:
    path = write(files.home / "settings.yaml", COMMENTED)
    write_setting(files, Scope.GLOBAL, "bundle.app", ["./a.yaml"])
    write_setting(files, Scope.GLOBAL, "tui.theme", "dark")
    text = path.read_text()
    assert "# my settings" in text and "# the one I like" in text and "# the end" in text
    settings = load_settings(files)
    assert settings.app_bundles == ["./a.yaml"] and settings.get("tui.theme") == "dark"
    assert settings.active_bundle == "old"


def test_a_file_that_does_not_exist_is_made(files: SettingsFiles, tmp_path: Path) -> None:
    path = write_setting(files, Scope.LOCAL, "bundle.active", "mine")
    assert path == tmp_path / "proj" / ".amplifier" / "settings.local.yaml"
    assert yaml.safe_load(path.read_text()) == {"bundle": {"active": "mine"}}


def test_a_setting_can_be_removed(files: SettingsFiles) -> None:
    write(files.home / "settings.yaml", COMMENTED)
    write_setting(files, Scope.GLOBAL, "bundle.active", None)
    settings = load_settings(files)
    assert settings.active_bundle is None and settings.added_bundles == {"x": "git+https://h/x"}
    write_setting(files, Scope.GLOBAL, "no.such.thing", None)


def test_writing_the_same_value_does_not_touch_the_file(files: SettingsFiles) -> None:
    path = write(files.home / "settings.yaml", COMMENTED)
    os.utime(path, ns=(1, 1))
    write_setting(files, Scope.GLOBAL, "bundle.active", "old")
    assert path.stat().st_mtime_ns == 1


def test_a_broken_file_is_not_overwritten(files: SettingsFiles) -> None:
    path = write(files.home / "settings.yaml", "a: [\n")
    with pytest.raises(BundleError, match="Not valid YAML") as caught:
        write_setting(files, Scope.GLOBAL, "bundle.active", "x")
    assert caught.value.path == path and caught.value.line == 1
    assert path.read_text() == "a: [\n"
    write(path, "- a\n")
    with pytest.raises(BundleError, match="Expected a mapping"):
        write_setting(files, Scope.GLOBAL, "bundle.active", "x")


def test_a_scope_that_is_not_available_says_so(own_home: Path) -> None:
    files = SettingsFiles.for_project(own_home)
    with pytest.raises(BundleError, match="no project settings"):
        write_setting(files, Scope.PROJECT, "bundle.active", "x")


@pytest.mark.parametrize(
    "text",
    [
        "{bundle: {active: old}}",
        "bundle: {active: old, app: []}\n",
        "bundle:\n",
        "",
        "---\nbundle:\n  active: 'old'\n",
        'bundle:\n    active: "o#ld"\n',
        "bundle:\n  active: >\n    folded\n    text\n",
        "other: &a {x: 1}\nbundle: *a\n",
        "bundle: text\n",
        "\ufeffbundle:\r\n  active: old\r\n",
    ],
)
@pytest.mark.parametrize("value", ["new", "a: b # c", "", "yes", 5, ["l"], {"m": 1}])
def test_whatever_the_file_looks_like_the_setting_is_made(
    files: SettingsFiles, text: str, value: object
) -> None:
    write(files.home / "settings.yaml", text)
    write_setting(files, Scope.GLOBAL, "bundle.active", value)
    data = yaml.safe_load((files.home / "settings.yaml").read_text(encoding="utf-8-sig"))
    assert data["bundle"]["active"] == value


scalars = st.text(max_size=8) | st.integers() | st.booleans()
documents = st.recursive(
    scalars,
    lambda inner: (
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3) | st.lists(inner, max_size=2)
    ),
    max_leaves=8,
)


@hypothesis_settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from("abc"), documents), st.sampled_from("abc"), scalars)
def test_a_small_edit_means_exactly_what_was_wanted(
    data: dict[str, object], key: str, value: object
) -> None:
    text = yaml.safe_dump(data)
    wanted = {**data, key: value}
    result = edited(text, [key], value, wanted)
    assert result is None or yaml.safe_load(result) == wanted


def test_a_providers_secret_goes_to_the_keys(files: SettingsFiles) -> None:
    entry = {
        "module": "provider-anthropic",
        "config": {"api_key": "sk-secret", "model": "m", "max_tokens": 5, "auth_token": "${MINE}"},
    }
    path = write_provider(files, Scope.GLOBAL, entry)
    assert "sk-secret" not in path.read_text()
    assert load_settings(files).providers[0]["config"] == {
        "api_key": "${ANTHROPIC_API_KEY}",
        "model": "m",
        "max_tokens": 5,
        "auth_token": "${MINE}",
    }
    environ: dict[str, str] = {}
    load_keys(files.home, environ)
    assert environ == {"ANTHROPIC_API_KEY": "sk-secret"}
    write_provider(files, Scope.GLOBAL, {"module": "provider-anthropic", "config": {"model": "n"}})
    write_provider(files, Scope.GLOBAL, {"module": "provider-anthropic", "id": "2nd"})
    providers = load_settings(files).providers
    assert [entry.get("id") for entry in providers] == [None, "2nd"]
    assert providers[0]["config"]["model"] == "n"


def keys(home: Path, text: str) -> Path:
    path = write(home / "keys.env", text)
    path.chmod(0o600)
    return path


def test_keys_are_loaded_and_the_environment_wins(tmp_path: Path) -> None:
    keys(
        tmp_path,
        '\ufeff# comment\n\nA="one"\nB=\'two\'\nexport C=three\nD = "fo=u\\r"\nE=\nF=set\n'
        "G=\"'q'\"\r\n",
    )
    environ = {"F": "mine", "E": ""}
    report = load_keys(tmp_path, environ)
    assert environ == {
        "A": "one",
        "B": "two",
        "C": "three",
        "D": "fo=u\\r",
        "E": "",
        "F": "mine",
        "G": "'q'",
    }
    assert report.shadowed == ["F"] and "A" in report.loaded
    assert report.problems == []


def test_lines_that_are_no_keys_are_reported_without_their_content(tmp_path: Path) -> None:
    path = keys(tmp_path, "A=1\nsk-secret-oops\n1B=2\nC D=3\n")
    report = load_keys(tmp_path, {})
    assert [problem.line for problem in report.problems] == [2, 3, 4]
    assert all(problem.path == path for problem in report.problems)
    assert "secret" not in str([str(problem) for problem in report.problems])


def test_a_missing_or_unreadable_keys_file_is_no_error(tmp_path: Path) -> None:
    assert load_keys(tmp_path, {}).problems == []
    (tmp_path / "keys.env").write_bytes(b"A=\xff\n")
    assert "Cannot be read" in load_keys(tmp_path, {}).problems[0].message


def test_a_keys_file_others_can_read_is_made_private(tmp_path: Path) -> None:
    path = keys(tmp_path, "A=1\n")
    path.chmod(0o644)
    report = load_keys(tmp_path, {})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "private now" in report.problems[0].message


def test_a_key_is_added_replaced_and_removed_privately(tmp_path: Path) -> None:
    keys(tmp_path, '# mine\nA="1"\n')
    set_key(tmp_path, "B", "va\"l'ue #x")
    set_key(tmp_path, "A", "2")
    environ: dict[str, str] = {}
    load_keys(tmp_path, environ)
    assert environ == {"A": "2", "B": "va\"l'ue #x"}
    path = tmp_path / "keys.env"
    assert path.read_text().startswith("# mine\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert remove_key(tmp_path, "A") and not remove_key(tmp_path, "A")
    assert "A=" not in path.read_text()


def test_the_first_key_makes_home_and_file(tmp_path: Path) -> None:
    set_key(tmp_path / "new" / "home", "A", "1")
    path = tmp_path / "new" / "home" / "keys.env"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not remove_key(tmp_path / "other", "A")
    assert not (tmp_path / "other" / "keys.env").exists()


@pytest.mark.parametrize(("name", "value"), [("1A", "x"), ("A B", "x"), ("", "x"), ("A", "x\ny")])
def test_a_key_that_would_break_the_file_is_refused(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(ValueError, match=r"name|line break"):
        set_key(tmp_path, name, value)


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True), st.text(max_size=30))
def test_every_key_that_is_accepted_comes_back(name: str, value: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        try:
            set_key(Path(folder), name, value)
        except ValueError:
            return
        environ: dict[str, str] = {}
        load_keys(Path(folder), environ)
        assert environ == {name: value}
