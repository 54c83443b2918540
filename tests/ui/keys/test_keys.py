import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events

from amplifier_tui.cli.group import run
from amplifier_tui.host.events import TurnStarted
from amplifier_tui.paths import user_config_dir
from amplifier_tui.ui.dialogs.export.sheet import ExportSheet
from amplifier_tui.ui.dialogs.modules.commands import Help
from amplifier_tui.ui.dialogs.sessions.imported import ImportedSheet
from amplifier_tui.ui.keys import keymap_file
from amplifier_tui.ui.keys.action import OVERLAPPING
from amplifier_tui.ui.keys.actions import ACTIONS, BY_ID, BY_SLASH
from amplifier_tui.ui.keys.keymap import EDITING_KEYS, show_key
from amplifier_tui.ui.keys.keymap_file import build_keymap, load_keymap, pane_actions
from tests.ui.driving import running
from tests.ui.fake_client import SESSION


def test_every_key_has_one_meaning_where_it_is_heard() -> None:
    for scopes in OVERLAPPING:
        keys = [k for a in ACTIONS if a.scope in scopes and a.keys for k in a.keys.split(",")]
        if "prompt" in scopes:
            keys += EDITING_KEYS
        assert len(keys) == len(set(keys))


def test_every_listed_action_can_be_reached_by_chord_or_key_and_by_name() -> None:
    for action in ACTIONS:
        if action.listed:
            assert action.keys or action.chord or action.slash, action.id
            assert action.title


def test_chords_and_slash_names_are_unique() -> None:
    chords = [a.chord for a in ACTIONS if a.chord]
    assert len(chords) == len(set(chords))
    assert len(BY_SLASH) == sum(len(a.commands) for a in ACTIONS)
    assert len(BY_ID) == len(ACTIONS)


def test_keys_that_terminals_and_multiplexers_take_are_left_alone() -> None:
    taken = {"ctrl+b", "ctrl+s", "ctrl+q", "ctrl+h", "ctrl+i", "ctrl+m", "f10", "f11", "f12"}
    used = {k for a in ACTIONS for k in a.keys.split(",")}
    assert not used & taken


def test_every_action_runs_something_that_exists() -> None:
    from amplifier_tui.ui.app.app import AmplifierApp
    from amplifier_tui.ui.app.screens.main_screen import MainScreen
    from amplifier_tui.ui.dialogs.approval import ApprovalDialog
    from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
    from amplifier_tui.ui.dialogs.diff_sheet import DiffSheet
    from amplifier_tui.ui.dialogs.image_sheet import ImageSheet
    from amplifier_tui.ui.dialogs.modules.mcp_servers import ServerList
    from amplifier_tui.ui.dialogs.parts.picker import Picker
    from amplifier_tui.ui.dialogs.permissions.details import DetailSheet
    from amplifier_tui.ui.dialogs.permissions.rules import RuleList
    from amplifier_tui.ui.dialogs.rewind.sheet import RewindSheet
    from amplifier_tui.ui.dialogs.sessions.picker import SessionPicker
    from amplifier_tui.ui.dialogs.trust.dialog import TrustDialog
    from amplifier_tui.ui.prompt.prompt_input import PromptInput
    from amplifier_tui.ui.transcript.find_bar import FindInput

    homes = {
        "prompt": PromptInput,
        "approval": ApprovalDialog,
        "ask": AskDialog,
        "diff": DiffSheet,
        "image": ImageSheet,
        "rewind": RewindSheet,
        "export": ExportSheet,
        "imported": ImportedSheet,
        "trust": TrustDialog,
        "picker": Picker,
        "rules": RuleList,
        "sessions": SessionPicker,
        "decision": DetailSheet,
        "servers": ServerList,
        "find": FindInput,
    }
    for action in ACTIONS:
        namespace, _, name = action.run.split("(")[0].rpartition(".")
        home = {"app": AmplifierApp, "screen": MainScreen}.get(namespace) or homes[action.scope]
        assert hasattr(home, f"action_{name}"), action.id


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"keys": {"pane.modulez": "f9"}}, "did you mean pane.modules"),
        ({"keys": {"pane.modules": "f3"}}, "f3 is taken by pane.events"),
        ({"keys": {"pane.modules": "x"}}, "x edits the prompt"),
        ({"keys": {"pane.modules": "ctrl+u"}}, "edits the prompt"),
        ({"keys": {"pane.modules": "hyperspace+x"}}, "is not a key name"),
        ({"keys": {"turn.back": "banana"}}, "'banana' is not a key name."),
        ({"keys": {"turn.back": "pgdown"}}, "is not a key name; did you mean 'pagedown'?"),
        ({"keys": {"turn.back": "ctrl+escpe"}}, "is not a key name; did you mean 'escape'?"),
        ({"keys": {"turn.back": "ctlr+y"}}, "is not a key name; did you mean 'ctrl'?"),
        ({"keys": {"pane.modules": 3}}, "must be a key"),
        ({"keys": {"pane.modules": [1]}}, "must be a key"),
        ({"keys": 3}, "must be a table"),
        ({"keys": {"prompt.send": ""}}, "cannot be left without a key"),
        ({"keys": {"approval.deny": "a"}}, "taken by approval.allow"),
        ({"chords": {"pane.modules": "b"}}, "taken by session.bundles"),
        ({"chords": {"pane.modules": ["q", "w"]}}, "a chord is one key"),
        ({"chords": {"prompt.send": "9"}}, "only makes sense as a key"),
        ({"colours": {}}, "unknown table"),
    ],
)
def test_a_wrong_entry_is_refused_with_a_reason_and_the_default_stays(
    data: dict, words: str
) -> None:
    keymap = build_keymap(data)
    assert len(keymap.errors) == 1
    assert words.lower() in keymap.errors[0].lower()
    assert keymap.keys == {} and keymap.chords == {}


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("ctrl+alt+pgdn", "alt+ctrl+pagedown"),
        ("F9", "f9"),
        ("shift+Esc", "shift+escape"),
        ("ctrl+backslash", "ctrl+backslash"),
        ("ctrl+section_sign", "ctrl+section_sign"),
        ("alt+ü", "alt+ü"),
        ("pause", "pause"),
        ("ctrl+@", "ctrl+space"),
    ],
)
def test_a_key_may_be_written_as_the_screen_shows_it_or_by_its_name(written: str, key: str) -> None:
    keymap = build_keymap({"keys": {"pane.modules": written}})
    assert (keymap.errors, keymap.keys) == ([], {"pane.modules": key})


def test_two_actions_can_swap_their_keys() -> None:
    keymap = build_keymap({"keys": {"pane.modules": "f3", "pane.events": "f2"}})
    assert keymap.errors == []
    assert keymap.keys == {"pane.modules": "f3", "pane.events": "f2"}


def test_a_key_is_not_given_away_by_a_change_that_was_refused() -> None:
    keymap = build_keymap({"keys": {"pane.modules": "f3", "pane.events": "x"}})
    assert keymap.keys == {}
    assert len(keymap.errors) == 2
    chords = build_keymap({"chords": {"pane.modules": "b", "session.bundles": ["p", "q"]}})
    assert chords.chords == {}


def test_a_key_of_a_pane_may_be_the_same_as_one_of_another_place() -> None:
    keymap = build_keymap({"keys": {"events.follow": "f9", "modules.copy": "f9"}})
    assert keymap.errors == []


KEYS = st.sampled_from(["f2", "f3", "f4", "f9", "x", "enter", "tab", "", "ctrl+u", "escape"])
ODD = st.none() | st.integers() | st.lists(st.text(max_size=3), max_size=2)


@given(
    st.dictionaries(st.sampled_from([*BY_ID, "zz"]), KEYS | ODD, max_size=8),
    st.dictionaries(st.sampled_from([*BY_ID, "zz"]), st.sampled_from("bBmxq ") | ODD, max_size=8),
)
def test_no_keymap_makes_it_raise_or_gives_a_key_two_meanings(keys: dict, chords: dict) -> None:
    keymap = build_keymap({"keys": keys, "chords": chords})
    for scopes in OVERLAPPING:
        held = [k for a in ACTIONS if a.scope in scopes for k in keymap.keys_of(a).split(",") if k]
        assert len(held) == len(set(held))
    given_chords = [c for a in ACTIONS if (c := keymap.chord_of(a))]
    assert len(given_chords) == len(set(given_chords))
    assert keymap.keys_of(BY_ID["prompt.send"])


@pytest.mark.parametrize(
    ("written", "line", "words"),
    [
        (b"[keys\n", 1, "Expected ']' at the end of a table declaration. All keys keep"),
        (b'[keys]\n"app.help" = "\xff"\n', 2, "This is not UTF-8. All keys keep"),
        (b'# "x" = 1\n[keys]\n"app.help" = "f9"\n"x" = "f8"\n', 4, "[keys] x: no such action"),
        (b"[ chords ]\n\n'app.help' = ['a', 'b']\n", 3, "[chords] app.help: a chord is one key"),
        (b'[chords]\n"app.help" = "h"\n[keys]\npane.help = "f8"\n', 4, "[keys] pane: no such"),
        (b'[keys]\n"pane.modules" = "f3"\n"pane.events" = "x"\n', 3, "[keys] pane.events: x "),
        (b'keys."app.help" = 3\n', 1, "[keys] app.help: must be a key"),
        (b"\nchords = 3\n", 2, "[chords] must be a table"),
        (b"\n[colours]\n", 2, "unknown table [colours]"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_path_and_line(
    tmp_path: Path, written: bytes, line: int, words: str
) -> None:
    path = tmp_path / "keymap.toml"
    path.write_bytes(written)
    assert load_keymap(path).errors[0].startswith(f"{path}:{line}: {words}")


def test_a_file_that_is_not_there_says_nothing_and_a_folder_says_its_path_once(
    tmp_path: Path,
) -> None:
    assert load_keymap(tmp_path / "none.toml").errors == []
    (error,) = load_keymap(tmp_path).errors
    assert error == f"{tmp_path}: Is a directory. All keys keep their defaults."


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("f2", "F2"),
        ("question_mark", "?"),
        ("escape", "esc"),
        ("ctrl+x", "ctrl+x"),
        ("pageup", "pgup"),
    ],
)
def test_keys_are_shown_as_people_call_them(key: str, shown: str) -> None:
    assert show_key(key) == shown


@pytest.mark.parametrize("source", ["readme", "help"])
def test_the_keymap_that_is_shown_is_taken_as_it_stands(
    source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if source == "readme":
        page = Path(keymap_file.__file__).with_name("README.md").read_text("utf-8")
        [text] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    else:
        run(["keys", "--help"])
        [text] = re.findall(r"( +\[keys\]\n.*?)\n\n", capsys.readouterr().out, re.DOTALL)
    shown = tomllib.loads(text)
    keymap = build_keymap(shown)
    assert keymap.errors == []
    assert keymap.keys.keys() == shown["keys"].keys()
    assert keymap.chords == shown["chords"]


def test_the_readme_says_where_the_keymap_is(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(keymap_file.__file__).with_name("README.md").read_text("utf-8")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    path = user_config_dir() / "keymap.toml"
    assert f"`~/{path.relative_to(Path.home())}`" in page


def test_no_words_of_the_help_have_backticks_which_a_screen_would_show() -> None:
    actions = (*ACTIONS, *pane_actions())
    marked = [each.id for each in actions if "`" in f"{each.title}{each.help}{each.takes}"]
    assert marked == []


def test_no_key_of_the_tables_is_shown_by_the_name_of_its_character() -> None:
    given = {key for action in (*ACTIONS, *pane_actions()) for key in action.keys.split(",")}
    shown = {show_key(key) for key in (*given, *(action.chord for action in ACTIONS))}
    assert not [key for key in shown if "_" in key]


async def test_the_users_keymap_is_in_force_and_shown() -> None:
    folder = user_config_dir()
    folder.mkdir(parents=True)
    (folder / "keymap.toml").write_text(
        '[keys]\n"app.help" = "f9"\n"prompt.send" = "ctrl+enter"\n"prompt.newline" = "enter"\n'
        '"session.new" = "f10"\n"nothing.here" = "f5"\n[chords]\n"session.bundles" = "B"\n'
    )
    async with running() as drive:
        assert "keymap.toml:6: [keys] nothing.here: no such action" in drive.text()
        assert str(folder) not in drive.text()
        await drive.write("a")
        await drive.press("enter")
        await drive.write("b")
        assert drive.draft == "a\nb"
        await drive.press("ctrl+enter")
        assert drive.client.named("submit") == [("a\nb",)]
        await drive.press("f10")
        assert drive.client.named("switch_bundle") == [("coding", False)]
        await drive.press("f1")
        assert drive.app.screen is drive.app.main
        await drive.press("f9")
        await drive.dialog(Help)
        assert "ctrl+x B" in drive.text()
        await drive.write("keys and commands")
        assert "F9" in drive.text()


@pytest.mark.parametrize("focus", ["prompt", "pane"])
async def test_a_key_with_alt_that_is_bound_is_no_letter(focus: str) -> None:
    folder = user_config_dir()
    folder.mkdir(parents=True)
    (folder / "keymap.toml").write_text('[keys]\n"app.help" = "alt+m"\n')
    async with running() as drive:
        if focus == "pane":
            await drive.press("f2")
        drive.app.post_message(events.Key("alt+n", "n"))
        await drive.settle()
        assert drive.draft == "n", "an escape that came with the letter, over a slow line"
        drive.app.post_message(events.Key("alt+m", "m"))
        await drive.dialog(Help)
        assert drive.draft == "n"


async def test_the_prompt_names_the_users_keys() -> None:
    folder = user_config_dir()
    folder.mkdir(parents=True)
    (folder / "keymap.toml").write_text('[keys]\n"turn.back" = "f9"\n"prompt.queue" = ""\n')
    async with running() as drive:
        await drive.push(TurnStarted(session_id=SESSION, turn=1, prompt="go"))
        assert "enter steers   F9 stops" in drive.text()
