import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.files import FileLock
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.store.metadata import (
    FILE_NAME,
    Metadata,
    MetadataFile,
    TornMetadataError,
    read_metadata,
)
from amplifier_tui.host.store.session_store import SessionStore

OLD = {"name": "Old", "created": "2026-03-01T09:00:00+00:00", "config": {"a": {"b": [1, None]}}}


def on_disk(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / FILE_NAME).read_text())
    return found


def put(folder: Path, fields: dict[str, Any]) -> None:
    (folder / FILE_NAME).write_text(json.dumps(fields))


def add(folder: Path, **more: Any) -> None:
    """Write as another program does: all of it, with more in it."""
    put(folder, {**on_disk(folder), **more})


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def file(tmp_path: Path, told: list[str]) -> MetadataFile:
    put(tmp_path, OLD)
    file = MetadataFile(tmp_path, told.append)
    file.load()
    return file


def test_what_others_wrote_since_they_were_read_stays(file: MetadataFile, tmp_path: Path) -> None:
    add(tmp_path, name="New", description="About", tags=["x"], config={"a": {"c": 1}}, more=[1])
    file.metadata.turn_count = 3
    file.save()
    written = on_disk(tmp_path)
    assert (written["name"], written["description"], written["tags"]) == ("New", "About", ["x"])
    assert (written["config"], written["more"]) == ({"a": {"c": 1}}, [1])
    assert written["turn_count"] == 3
    assert file.metadata.shown == ("New", "About", ("x",))


def test_a_title_the_user_gives_goes_before_one_that_was_given_meanwhile(
    file: MetadataFile, tmp_path: Path
) -> None:
    add(tmp_path, name="From a hook")
    file.metadata.name = "Mine"
    file.save()
    assert on_disk(tmp_path)["name"] == "Mine"
    file.metadata.name = ""
    file.save()
    assert "name" not in on_disk(tmp_path)


def test_what_is_set_once_stays_as_whoever_was_first_wrote_it(
    file: MetadataFile, tmp_path: Path
) -> None:
    add(tmp_path, first_prompt="the first")
    file.metadata.first_prompt, file.metadata.created = "the second", "2027"
    file.save()
    written = on_disk(tmp_path)
    assert (written["first_prompt"], written["created"]) == ("the first", OLD["created"])


def test_a_count_goes_up_only_and_what_only_we_write_comes_back(
    file: MetadataFile, tmp_path: Path
) -> None:
    file.metadata.turn_count, file.metadata.project_dir = 5, "/work"
    file.save()
    put(tmp_path, {**OLD, "turn_count": 2})
    file.save()
    assert (on_disk(tmp_path)["turn_count"], on_disk(tmp_path)["project_dir"]) == (5, "/work")
    add(tmp_path, turn_count=9)
    file.save()
    assert file.metadata.turn_count == 9


def test_what_another_program_takes_out_stays_out(file: MetadataFile, tmp_path: Path) -> None:
    put(tmp_path, {"created": OLD["created"]})
    file.metadata.model = "m"
    file.save()
    assert not {"name", "config"} & on_disk(tmp_path).keys()
    assert file.metadata.name == ""


def test_values_of_another_type_are_left_to_the_version_that_knows_them(
    file: MetadataFile, tmp_path: Path
) -> None:
    future = {"turn_count": "many", "tags": {"a": 1}, "created": 1_800_000_000, "name": {"en": "x"}}
    put(tmp_path, future)
    file.load()
    file.metadata.turn_count = 4
    file.save()
    assert {key: on_disk(tmp_path)[key] for key in future} == future
    assert file.metadata.shown == ("", "", ())


def test_a_file_that_says_all_we_know_is_not_written_again(
    file: MetadataFile, tmp_path: Path
) -> None:
    file.save()
    before = (tmp_path / FILE_NAME).stat()
    file.save()
    assert (tmp_path / FILE_NAME).stat().st_ino == before.st_ino
    assert not file.is_changed()
    add(tmp_path, name="Other")
    assert file.is_changed()


_KEYS = st.sampled_from(["name", "description", "tags", "config", "turn_count", "x", "y", "model"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)
_THEIRS = st.tuples(st.just("they"), _KEYS, _VALUES)
_OURS = st.tuples(st.just("we"), st.sampled_from(["model", "provider", "turn_count"]), st.just(1))


@given(st.lists(_THEIRS | _OURS, max_size=12))
def test_no_order_of_writes_loses_what_others_wrote(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[str, str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("session")
    put(folder, {})
    file = MetadataFile(folder)
    file.load()
    theirs: dict[str, Any] = {}
    for who, key, value in writes:
        if who == "they":
            add(folder, **{key: value})
            theirs[key] = value
        elif key == "turn_count":
            file.metadata.turn_count += 1
            file.save()
        else:
            setattr(file.metadata, key, getattr(file.metadata, key) + "x")
            theirs.pop(key, None)
            file.save()
    written = on_disk(folder)
    count = theirs.pop("turn_count", None)
    assert {key: written[key] for key in theirs} == theirs
    if count is not None:
        assert type(count) is not int or written["turn_count"] >= count


# --- files that can't be used ----------------------------------------------------------------


def _link(path: Path) -> None:
    (path.parent / "elsewhere.json").write_text(json.dumps(OLD))
    path.symlink_to(path.parent / "elsewhere.json")


UNUSABLE: dict[str, Callable[[Path], Any]] = {
    "torn": lambda path: path.write_text('{"name": "Ol'),
    "empty": lambda path: path.write_text(""),
    "a list": lambda path: path.write_text("[1]"),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "a pipe": os.mkfifo,
    "a folder": lambda path: path.mkdir(),
    "nested too deeply": lambda path: path.write_text("[" * 100_000),
}


@pytest.mark.parametrize("how", UNUSABLE)
def test_metadata_that_can_t_be_used_is_kept_aside_and_said(
    tmp_path: Path, told: list[str], how: str
) -> None:
    UNUSABLE[how](tmp_path / FILE_NAME)
    assert read_metadata(tmp_path) == Metadata(session_id=tmp_path.name)
    file = MetadataFile(tmp_path, told.append)
    file.load()
    file.metadata.name = "Mine"
    file.save()
    assert on_disk(tmp_path)["name"] == "Mine"
    (aside,) = tmp_path.glob("metadata.json.corrupt-*")
    (said,) = told
    assert said.startswith("metadata.json can't be read (") and aside.name in said


def test_nobody_waits_for_a_file_that_is_being_written_and_it_is_taken_up_when_it_is_whole(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(seconds: float) -> None:
        raise AssertionError("it waits")

    monkeypatch.setattr("amplifier_tui.host.store.metadata.time.sleep", sleep)
    path, file = tmp_path / FILE_NAME, MetadataFile(tmp_path, told.append)
    file.metadata.description = "Mine"
    path.write_text('{"name": "Ol')
    with pytest.raises(TornMetadataError):
        file.save(0.0)
    path.write_text(json.dumps({"name": "Old"}))
    file.save(0.0)
    assert (on_disk(tmp_path)["name"], on_disk(tmp_path)["description"]) == ("Old", "Mine")
    # One that stays torn is kept aside the second time.
    path.write_text("{")
    with pytest.raises(TornMetadataError):
        file.save(0.0)
    file.save(0.0)
    assert len(list(tmp_path.glob("metadata.json.corrupt-*"))) == len(told) == 1


def test_the_copy_of_the_amplifier_cli_is_used_for_a_torn_file(
    tmp_path: Path, told: list[str]
) -> None:
    (tmp_path / FILE_NAME).write_text("{")
    (tmp_path / "metadata.json.backup").write_text(json.dumps(OLD))
    file = MetadataFile(tmp_path, told.append)
    file.load()
    file.save()
    assert on_disk(tmp_path)["config"] == OLD["config"]
    assert "metadata.json.backup is used" in told[0]


def test_a_link_is_read_and_what_it_leads_to_never_written(tmp_path: Path, told: list[str]) -> None:
    _link(tmp_path / FILE_NAME)
    file = MetadataFile(tmp_path, told.append)
    file.load()
    file.metadata.name = "Mine"
    file.save()
    assert on_disk(tmp_path)["config"] == OLD["config"] and on_disk(tmp_path)["name"] == "Mine"
    assert json.loads((tmp_path / "elsewhere.json").read_text()) == OLD
    assert not (tmp_path / FILE_NAME).is_symlink() and "was a link" in told[0]


def test_metadata_another_window_holds_keeps_nobody_waiting_and_is_saved_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def acquire(lock: FileLock, timeout: float = 0.0) -> None:
        waits.append(timeout)
        take(lock)

    take = FileLock.acquire
    troubles: list[OSError | None] = []
    store = SessionStore(tmp_path / "s", Redactor({}), troubles.append)
    store.open()
    monkeypatch.setattr(FileLock, "acquire", acquire)
    lock = FileLock(tmp_path / "s" / "metadata.json.lock")
    lock.acquire()
    store.metadata.name = "Mine"
    store.save_metadata()
    store.save_metadata()
    assert not troubles, "it is tried again"
    store.follow_metadata()
    assert len(troubles) == 1 and troubles[0] is not None
    lock.release()
    store.follow_metadata()
    assert troubles[1:] == [None] and on_disk(tmp_path / "s")["name"] == "Mine"
    assert set(waits) == {0.0}
    store.add_row({"role": "user", "content": "Hi"})
    store.close()
    assert waits[-1] > 0, "the end of the session is the last chance"
