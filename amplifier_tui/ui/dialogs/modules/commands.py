"""The commands there are: the palette, all keys by group, those of modules."""

from collections.abc import Iterable, Sequence
from operator import attrgetter

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Static

from amplifier_tui.base.text import one_line, with_remedy
from amplifier_tui.host.events import CommandCard
from amplifier_tui.ui.dialogs.parts.picker import Picker, marked_match
from amplifier_tui.ui.dialogs.parts.sheet import KeyRow
from amplifier_tui.ui.fuzzy import rank
from amplifier_tui.ui.keys.action import Action
from amplifier_tui.ui.keys.actions import ACTIONS, BY_ID, groups
from amplifier_tui.ui.keys.keymap import Keymap, show_key, show_keys
from amplifier_tui.ui.keys.keymap_file import pane_actions
from amplifier_tui.ui.keys.module_commands import by_typed_name
from amplifier_tui.ui.widgets.pick_list import LazyRows, PickRow

_ROWS = ((110, 1), (50, 2), (0, 3))
"""Columns from which what a command does takes so many rows."""
_SLASH = 1 + max(len(each.commands[0]) for each in ACTIONS if each.slash)
"""Cells of the longest command, which keeps the columns beside it in line."""

_EVERY = 9
_KEYS_IN_FULL = 3
"""Keys of an action in a row that has room for them."""

_TIGHT = 60
"""With fewer columns a row has the keys alone: they are what was looked up."""


class CommandPalette(Picker):
    """Returns the id of the action to run."""

    TITLE = "Commands"
    PLACEHOLDER = "Type to find a command"
    CHOOSE = "Run"

    BELOW = 2
    DEFAULT_CSS = """
    CommandPalette #command-about { height: 1; margin-top: 1; color: $text-muted; }
    """

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def _below(self) -> ComposeResult:
        yield Static(id="command-about", markup=False)

    def _fit(self, rows: int) -> None:
        super()._fit(rows)
        width = self.app.size.width
        needed = next(needed for columns, needed in _ROWS if width >= columns)
        self.query_one("#command-about").styles.height = needed

    def _highlighted(self, row: PickRow | None) -> None:
        """Say whole what the command under the cursor does: in its row it may be cut."""
        actions = (*ACTIONS, *pane_actions())
        action = next((each for each in actions if row and each.id == row.id), None)
        words = self._about(action) if action is not None else ""
        self.query_one("#command-about", Static).update(words, layout=False)

    def _about(self, action: Action) -> str:
        """Return what it does, and all its keys where its row has not room for them."""
        keys = self._keymap.keys_of(action)
        every = show_keys(keys, _EVERY)
        by_keys = f"By {every}." if every != show_keys(keys, self._keys_in_row) else ""
        return with_remedy(action.help, by_keys)

    @property
    def _keys_in_row(self) -> int:
        return 1

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        listed = [action for action in ACTIONS if action.listed and action.id != "app.palette"]
        found = ranked(query, listed, self._keymap)
        tight = self.app.size.width < _TIGHT
        return LazyRows(
            found,
            lambda action: action_row(action, self._keymap, query, tight=tight),
            attrgetter("id"),
        )


class Help(CommandPalette):
    """The palette with every key there is; those of the widget `at` come first."""

    TITLE = "Keys and commands"
    PLACEHOLDER = "Type to find one"
    ROWS = (20, 60)

    def __init__(self, keymap: Keymap, at: DOMNode | None = None) -> None:
        super().__init__(keymap)
        around = at.ancestors_with_self if at is not None else ()
        here = {each.id for node in around for each in node.BINDINGS if isinstance(each, Binding)}
        found = pane_actions()
        group = next((each.group for each in found if each.id in here), "")
        first = [each for each in found if each.group == group]
        rest = [each for each in found if each.group != group]
        self._actions = (*first, *ACTIONS, *rest)
        self._full: bool | None = None
        """Whether the rows have descriptions; None before there are any."""

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        full = self._full = self._has_room
        tight = self.app.size.width < _TIGHT
        actions = self._actions
        items: list[Action | str] = []
        if query:
            # What can be run from here comes before keys that work elsewhere.
            found = ranked(query, actions, self._keymap)
            items = [*sorted(found, key=lambda each: not each.listed)]
        else:
            for name, members in groups(actions):
                items += [*([""] if items else []), name, *members]

        def row(item: Action | str) -> PickRow:
            if isinstance(item, str):
                return PickRow("", Content.styled(item, "$text-secondary bold"))
            return action_row(item, self._keymap, query, full=full, tight=tight)

        return LazyRows(items, row, lambda item: "" if isinstance(item, str) else item.id)

    def _data(self, rows: Sequence[PickRow]) -> Content:
        return Content("keymap.toml changes them")

    @property
    def _keys_in_row(self) -> int:
        return _KEYS_IN_FULL if self._full else 1

    @property
    def _has_room(self) -> bool:
        """Whether descriptions stand beside the names."""
        return self.app.size.width >= 100

    def _fit(self, rows: int) -> None:
        super()._fit(rows)
        self.query_one("#picker-data").display = self.app.size.width >= 60
        if self._full is (not self._has_room):
            self.refill(self.rows.row_id)

    def _highlighted(self, row: PickRow | None) -> None:
        super()._highlighted(row)
        self.query_one(KeyRow).hide(frozenset() if row is not None else self.ON_ROW)
        found = (each for each in self._actions if row is not None and each.id == row.id)
        action = next(found, None)
        if action is None or action.listed:
            return
        # A key of a place that is not here: enter could run it only there.
        self.query_one(KeyRow).hide(self.ON_ROW)
        where = {"pane": f", {action.group.lower()}", "screen": "", "prompt": ""}
        place = where.get(action.scope, f", in {action.group}")
        words = self._about(action)
        if words == action.help:
            words = with_remedy(words, "Only by its key.")
        words = f"{words.removesuffix('.')}{place}."
        self.query_one("#command-about", Static).update(words, layout=False)

    def _chosen(self, row: PickRow) -> None:
        action = BY_ID.get(row.id)
        if action is not None and action.listed:
            super()._chosen(row)


def action_text(action: Action) -> str:
    """Return the text a filter looks at."""
    return f"{action.title} {' '.join('/' + name for name in action.commands)} {action.help}"


def ranked(query: str, actions: Iterable[Action], keymap: Keymap) -> list[Action]:
    """Return the actions a filter finds, best first.

    One whose command, or key, is typed whole leads.
    """
    actions = list(actions)
    words = query.strip().lower()
    name = words.removeprefix("/")
    by_key = [
        each for each in actions if words in show_keys(keymap.keys_of(each), _EVERY).split(" / ")
    ]
    found = [*rank(query, actions, action_text), *by_key]
    return sorted(
        dict.fromkeys(found), key=lambda each: each not in by_key and name not in each.commands
    )


def action_row(
    action: Action, keymap: Keymap, query: str = "", *, full: bool = False, tight: bool = False
) -> PickRow:
    """Return one action with the ways to reach it, what was typed marked in its title.

    In `full` it has every key, the chord, the command and the long help, not only the first key.
    Where it is `tight` the command is left out beside a key.
    """
    left = marked_match(action.title, query)
    if query and action.scope == "pane":  # Its group has no heading where rows are found.
        left = Content.assemble(left, (f"  {action.group.lower()}", "$text-muted"))
    if full and action.help:
        left = Content.assemble(left, (f"  {action.help}", "$text-muted"))
    keys = show_keys(keymap.keys_of(action), _KEYS_IN_FULL if full else 1)
    chord = keymap.chord_of(action)
    chord_words = f"{keymap.leader()} {show_key(chord)}" if chord else ""
    slash = f"/{action.commands[0]}" if action.slash else ""
    if full:
        others = (f"  {chord_words.ljust(12)}{slash.ljust(_SLASH)}", "$text-muted")
        right = Content.assemble((keys.rjust(12), "bold"), others)
    elif tight:
        right = Content(keys or chord_words) or Content.styled(slash, "$text-muted")
    else:
        right = Content.assemble((slash, "$text-muted"), f"   {(keys or chord_words).rjust(10)}")
    return PickRow(action.id, left, right)


class ModuleCommandPicker(Picker):
    """Lists what modules offer by `/name`, skills mostly; returns what is to be typed for it."""

    TITLE = "Skills"
    PLACEHOLDER = "Type to filter by name or description"
    CHOOSE = "Put into the prompt"
    EMPTY = (
        "No module offers a command. A skill is a folder with a SKILL.md in ~/.agents/skills, "
        "or in .agents/skills of the project.",
        "No skill matches.",
    )

    def __init__(self, cards: Iterable[CommandCard]) -> None:
        super().__init__()
        self._cards = list(by_typed_name(cards).items())

    def _rows_for(self, query: str) -> Sequence[PickRow]:
        found = rank(query, self._cards, lambda item: f"{item[0]} {item[1].description}")
        return [_command_row(name, card, query) for name, card in found]


def _command_row(name: str, card: CommandCard, query: str) -> PickRow:
    takes = f" {one_line(card.takes, 40)}" if card.takes else ""
    left = Content.assemble(
        marked_match(f"/{name}", query),
        (takes, "$text-secondary"),
        (f"  {one_line(card.description, 300)}", "$text-muted"),
    )
    return PickRow(f"/{name} ", left, Content.styled(one_line(card.group, 24), "$text-muted"))
