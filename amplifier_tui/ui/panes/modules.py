"""The modules pane: what is mounted, what it did, and what is wrong with the rest."""

from collections.abc import Iterator
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import clean, one_line
from amplifier_tui.ui.panes.events.rows import clock_time, past_row, why_empty
from amplifier_tui.ui.panes.json_tree import parse_json
from amplifier_tui.ui.state.formats import milliseconds, short_model
from amplifier_tui.ui.state.instruments.modules import Modules, ModuleState, ModuleStatus
from amplifier_tui.ui.state.session import SessionState
from amplifier_tui.ui.transcript.lines import Span, wrap
from amplifier_tui.ui.widgets.line_view import LineView, cursor_bindings
from amplifier_tui.ui.widgets.messages import ActionWanted, CopyRequested, DetailsRequested
from amplifier_tui.ui.widgets.styled import Role, Row, fit, pieces_width, spread


@dataclass(frozen=True, slots=True)
class _ModuleLine:
    """One line below the head: a module's own, or one of its open details."""

    key: str
    row: Row
    own: bool


class ModulesPane(LineView[_ModuleLine]):
    """A pinned head over one line per module; Enter opens the details of one in place."""

    PINNED = 1
    FOOT = (
        ("modules.details", "details"),
        ("modules.reload", "reload"),
        ("modules.switch", "off"),
        ("modules.unmount", "unmount"),
        ("modules.mount", "mount"),
        ("modules.configure", "set"),
        ("modules.report", "missing"),
    )
    DEFAULT_CSS = "ModulesPane { height: auto; max-height: 100%; }"
    CHANGES = frozenset(
        (
            "change('reload')",
            "change('switch')",
            "change('unmount')",
            "change('configure')",
            "mount",
            "ask_again",
        )
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *cursor_bindings("modules"),
        Binding("enter,space", "details", "Details", id="modules.details"),
        Binding("r", "change('reload')", "Reload, or try again", id="modules.reload"),
        Binding("d", "change('switch')", "Switch off or on", id="modules.switch"),
        Binding("u", "change('unmount')", "Unmount", id="modules.unmount"),
        Binding("a", "mount", "Mount another one", id="modules.mount"),
        Binding("e", "change('configure')", "Change a setting", id="modules.configure"),
        Binding("y", "copy", "Copy", id="modules.copy"),
        Binding("o", "report", "What is missing, and why", id="modules.report"),
        Binding("t", "ask_again", "Ask again what you refused", id="modules.ask_again"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._modules = Modules()
        self._versions: tuple[object, ...] | None = None
        self._open: set[str] = set()
        self._asked: dict[str, float] = {}
        self._moment: float | None = None

    @property
    def cursor(self) -> ModuleStatus | None:
        """The module the cursor is on."""
        row = self.cursor_row
        return self._modules.by_key.get(self.rows[row].key) if row >= 0 else None

    def update_from(self, state: SessionState) -> None:
        """Show the state's modules; cheap when they have not changed."""
        modules = state.shown_modules
        versions = (id(modules), modules.version, state.moment)
        if versions != self._versions:
            self._versions = versions
            self._modules, self._moment = modules, state.moment
            self._open &= self._modules.by_key.keys()
            self._ask_for_details()
            self.lay_out()

    def _make_rows(self, width: int) -> list[_ModuleLine]:
        lines: list[_ModuleLine] = []
        for module in self._modules.ordered():
            lines.append(_ModuleLine(module.key, module_row(module, width), own=True))
            if module.key in self._open:
                details = module_details(module, width, self._modules.share_of(module))
                lines += [_ModuleLine(module.key, row, own=False) for row in details]
        none: Row = [(fit(why_empty(self._modules, "None mounted yet"), width), "muted")]
        return lines or [_ModuleLine("", none, own=False)]

    def _foot_words(self) -> tuple[tuple[str, str], ...]:
        # Without a module under the cursor only what needs none can be done.
        return self.FOOT if self.cursor is not None else _WITHOUT_MODULE

    def _stops_at(self, row: _ModuleLine) -> bool:
        return row.own

    def _identity(self, row: _ModuleLine) -> str:
        return row.key

    def _draw_pinned(self, width: int) -> Strip:
        inner = self.content_width()
        head = modules_head(self._modules, inner)
        if self._moment is not None:
            head = past_row("Modules", self._moment, inner)
        return self.palette.strip(head, width)

    def _draw_row(self, row: int, width: int) -> Strip:
        return self.palette.strip(self.rows[row].row, width, cursor=self.is_at_cursor(row))

    def on_click(self, event: events.Click) -> None:
        """Open or close the module that was clicked."""
        row = self.clicked_row()
        if row is not None:
            self.cursor_row = self.find_row(self.rows[row].key)
            self.action_details()

    def action_details(self) -> None:
        """Open or close the details of the module under the cursor."""
        if self.cursor is not None:
            self._open ^= {self.cursor.key}
            self._ask_for_details()
            self.lay_out()
            self.put_cursor(self.cursor_row)

    def put_cursor(self, row: int) -> None:
        """Put the cursor on a module and bring it into view with its details."""
        self.cursor_row = row
        self.show_rows(row, sum(line.key == self.rows[row].key for line in self.rows))
        self.refresh()

    def _ask_for_details(self) -> None:
        """Ask for what is open and not known; once for each time a module is mounted."""
        for key in self._open:
            module = self._modules.by_key[key]
            if module.details is None and self._asked.get(key) != module.since:
                self._asked[key] = module.since
                self.post_message(DetailsRequested(key))

    def action_change(self, what: str) -> None:
        """Do something with the module under the cursor."""
        if self.cursor is not None:
            self.post_message(ActionWanted(f"module.{what}", self.cursor.key))

    def action_mount(self) -> None:
        """Ask which module to mount."""
        self.post_message(ActionWanted("module.mount"))

    async def action_ask_again(self) -> None:
        """Ask again about what the user refused of the session on screen."""
        await self.run_action("app.ask_trust_again(True)")

    def action_report(self) -> None:
        """Show what the session goes without since it was opened."""
        self.post_message(ActionWanted("session.report"))

    def action_copy(self) -> None:
        """Copy what is known about the module under the cursor."""
        if self.cursor is not None:
            rows = module_details(self.cursor, 1000, self._modules.share_of(self.cursor))
            text = "\n".join("".join(part for part, _ in row).strip() for row in rows)
            self.post_message(CopyRequested(text, "module"))


_WITHOUT_MODULE = (("modules.mount", "mount"), ("modules.report", "missing"))
_GLYPHS: dict[ModuleState, tuple[str, Role]] = {
    "loading": ("◐", "warning"),
    "ready": ("●", "success"),
    "failed": ("✗", "error"),
    "noted": ("○", "muted"),
    "off": ("○", "muted"),
}
_IDLE = {"loading": "loading", "off": "off here"}
_COUNTS: tuple[tuple[ModuleState, Role, Role], ...] = (
    ("ready", "text", "muted"),
    ("loading", "warning", "warning"),
    ("failed", "error", "error"),
    ("off", "muted", "muted"),
)
"""States in the head line, with the roles of number and word."""
_MIN_NAME = 14
_WIDE_NAME = 26
_WIDE = 72
_LABEL = 10


def modules_head(modules: Modules, width: int) -> Row:
    """Return the head line: how many are ready, loading, failed, refused."""
    refused = modules.refused
    counts: list[Row] = []
    for state, number, word in _COUNTS:
        # What the user refused is gone without; nothing went wrong with it.
        if count := modules.count(state) - (refused if state == "failed" else 0):
            counts.append([(" · ", "muted"), (str(count), number), (f" {state}", word)])
    if refused:
        counts.append([(" · ", "muted"), (f"{refused} refused", "muted")])
    # What is wrong stands last, and is left out last.
    rows = ([piece for each in counts[at:] for piece in each][1:] for at in range(len(counts)))
    right = next((row for row in rows if pieces_width(row) + len("Modules ") <= width), [])
    return spread([("Modules", "head")], right, width)


def module_row(module: ModuleStatus, width: int) -> Row:
    """Return the line of one module."""
    glyph, role = _GLYPHS[module.stands]
    amiss = module.in_place_of or module.kept or module.problems or module.failed_parts
    amiss = amiss or module.left_out
    if module.stands == "ready" and (amiss or module.trouble or module.holds):
        role = "warning"
    name = one_line(module.module_id)
    if module.instance:
        name += f" {one_line(module.instance)}"
    left: Row = [(f"{glyph} ", role), (name, "text")]
    room = max(0, width - pieces_width(left) - 1)
    if width >= _WIDE:
        right = _wide_data(module, width)
    else:
        right = _data(module, max(room, width - 2 - min(len(name), _MIN_NAME) - 1))
    return spread(left, right, width)


def _data(module: ModuleStatus, room: int) -> Row:
    """Return the right column, least important parts left out until it fits."""
    if module.waits:
        words = (module.waits, module.change, "waits")
        return [(next((each for each in words if len(each) <= room), ""), "warning")]
    if module.state in ("failed", "noted"):
        return [(fit(failure_word(module), room), "muted")] if room > 4 else []
    if module.state in ("loading", "off"):
        return [(_IDLE[module.state], "muted")] if room >= 7 else []
    wanted: list[Row] = []
    if module.holds:
        wanted = [[(_holds(module), "warning")], [("busy", "warning")]]
    elif module.kept:
        wanted = [[("reload failed", "warning")], [("failed", "warning")]]
    elif module.trouble:
        wanted = [[(_trouble_word(module), "warning")], [("failed", "warning")]]
    elif module.kind == "provider":
        model = short_model(one_line(module.model))
        ms = _latest(module)
        both = " ".join(part for part in (model, ms) if part)
        wanted = [[(part, "muted")] for part in (both, model, ms) if part]
    elif module.in_place_of:
        wanted = [[("built-in instead", "warning")], [("instead", "warning")]]
    elif module.problems:
        wanted = [[("has mistakes", "warning")], [("mistakes", "warning")]]
    elif module.left_out:
        wanted = [[("left out", "warning")]]
    elif module.failed_parts:
        times: Row = [(f" {_times(module.calls)}", "muted")] if module.calls else []
        parts: Row = [(_failed_parts(module), "warning")]
        wanted = [[*parts, *times], parts, [("failed", "warning")]]
    elif module.calls and module.kind == "tool":
        wanted = [[(f"{_times(module.calls):>5}", "muted")]]
    elif module.calls:
        wanted = [[(_times(module.calls), "muted")]]
    return next((pieces for pieces in wanted if pieces_width(pieces) <= room), [])


def _latest(module: ModuleStatus) -> str:
    """Return how long the latest call took; less than 1 ms is noise in a list."""
    return milliseconds(module.last_ms) if module.last_ms >= 1 else ""


def _wide_data(module: ModuleStatus, width: int) -> Row:
    if module.waits:
        return [(module.waits, "warning"), (f"  {module.kind:<12}", "muted")]
    if module.state in ("failed", "noted"):
        # The kind's column, and at least a readable part of the name, are not given up.
        room = width - 2 - min(cell_len(one_line(module.module_id)), _WIDE_NAME) - 1 - 14
        return [(fit(failure_word(module), room), "muted"), (f"  {module.kind:<12}", "muted")]
    return [
        (f"{_IDLE[module.state]}  " if module.state in _IDLE else "", "muted"),
        (f"{_holds(module)}  " if module.holds else "", "warning"),
        ("reload failed  " if module.kept else "", "warning"),
        (f"{short_model(one_line(module.model))}  " if module.model else "", "muted"),
        (f"{_trouble_word(module)}  " if module.trouble else "", "warning"),
        ("has mistakes  " if module.problems else "", "warning"),
        ("left out  " if module.left_out else "", "warning"),
        (f"{_failed_parts(module)}  " if module.failed_parts else "", "warning"),
        ("built-in instead  " if module.in_place_of else "", "warning"),
        (f"{_times(module.calls) if module.calls else '':>6}", "muted"),
        (f"{_latest(module):>9}", "muted"),
        (f"  {module.kind:<12}", "muted"),
    ]


def _failed_parts(module: ModuleStatus) -> str:
    return f"{len(module.failed_parts)} of {module.parts} failed"


def _trouble_word(module: ModuleStatus) -> str:
    """Return what failed of a module that goes on."""
    return "handler failed" if module.kind == "hook" else "failed"


def _holds(module: ModuleStatus) -> str:
    """Return what waits for a handler that takes long."""
    return f"holds {one_line(module.holds[-1], 40)}"


def _times(calls: int) -> str:
    return f"{calls}×" if calls < 10_000 else f"{calls // 1000}k×"


def failure_word(module: ModuleStatus) -> str:
    """Return what is wrong with a failed module in a few words."""
    if module.refused:
        return "you refused it"
    if module.missing:
        return f"no {one_line(module.missing[0])}"
    # What was being done, and with what, is said beside it, and would be all that fits.
    error = one_line(module.error).strip()
    for done in (" but failed to load: ", "Error during protocol compliance check: "):
        error = error.rpartition(done)[2]
    error = error.removeprefix(f"Module '{module.module_id}'").lstrip(": ")
    raised, _, rest = error.partition(": ")
    is_raised = bool(rest) and raised.replace(".", "").isidentifier()
    word = rest if is_raised else error.partition(": ")[0]
    for end in (". ", "; ", " ("):
        word = word.partition(end)[0]
    # `ImportError: No module named x` says more behind its colon, `KeyError: 'x'` with both.
    word = word if " " in word or not is_raised else f"{raised}: {word}"
    return word.rstrip(".") or "failed"


_OWNERS = {
    "program": "comes with the program",
    "user": "yours",
    "project": "the project's",
    "stranger": "a stranger's",
}


def module_details(module: ModuleStatus, width: int, share: float = 0.0) -> list[Row]:
    """Return the block that opens under a module's line.

    Args:
        share: Its part of the time that modules worked, from 0 to 1.
    """
    last = f", the latest took {milliseconds(module.last_ms)}" if module.last_ms else ""
    # What is wrong comes first: the block may be longer than the pane.
    lines: list[tuple[str, str, Role]] = [
        ("waits", module.waits, "warning"),
        ("holds", f"{', '.join(module.holds)}: esc stops" if module.holds else "", "warning"),
        ("error", module.error, "error" if module.state == "failed" or module.kept else "text"),
        ("so", "what was there before goes on; r tries again" if module.kept else "", "text"),
        ("so", "the session cannot run without it" if module.fatal else "", "error"),
        ("missing", ", ".join(module.missing), "error"),
        ("failed", module.trouble, "warning"),
        *(("mistake", problem, "warning") for problem in module.problems),
        *(("left out", f"{source}: r brings it back", "warning") for source in module.left_out),
        *(("failed", part, "warning") for part in module.failed_parts),
        ("instead of", module.in_place_of, "warning"),
        ("again", "t asks about it once more" if module.refused else "", "text"),
        ("remedy", module.remedy, "strong"),
        ("id", module.module_id, "text"),
        ("kind", module.kind, "text"),
        ("from", module.origin, "text"),
        ("whose", _OWNERS.get(module.owner, module.owner), "text"),
        ("source", module.source, "text"),
        ("where", module.where, "text"),
        ("version", module.version, "text"),
        ("about", module.detail, "text"),
        ("model", module.model, "text"),
        ("provides", ", ".join(module.provides), "text"),
        ("listens", ", ".join(module.events), "text"),
        ("mounted", f"in {milliseconds(module.mount_ms)}" if module.mount_ms else "", "text"),
        ("reloaded", _reloads(module), "text"),
        ("calls", f"{module.calls}{last}" if module.calls else "", "text"),
        ("time", _time(module, share), "text"),
        *_tool_lines(module),
        *_setting_lines(module),
    ]
    shown = [line for line in lines if line[1]]
    return [row for label, value, role in shown for row in _wrapped(label, value, role, width)]


def _reloads(module: ModuleStatus) -> str:
    if not module.reloads:
        return ""
    return f"{module.reloads}×, the latest at {clock_time(module.since)[:8]}"


def _time(module: ModuleStatus, share: float) -> str:
    if module.total_ms < 1:
        return ""
    return f"{milliseconds(module.total_ms)} in all, {share:.0%} of what the modules took"


def _tool_lines(module: ModuleStatus) -> Iterator[tuple[str, str, Role]]:
    for tool in module.details.tools if module.details is not None else ():
        used = module.uses.get(tool.name, 0)
        about = one_line(tool.description, 200)
        yield "tool", f"{tool.name} {used}×" + (f": {about}" if about else ""), "text"
        yield "takes", _parameters(tool.schema), "muted"


def _parameters(schema: str) -> str:
    """Return the parameters of a tool in one line: name, type, and whether it is needed."""
    value, _ = parse_json(schema) if schema else (None, False)
    properties = value.get("properties") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return ""
    needed = value.get("required") or ()
    types = {
        name: each.get("type", "any") if isinstance(each, dict) else "any"
        for name, each in properties.items()
    }
    return ", ".join(
        f"{name}: {kind}" + ("" if name in needed else "?") for name, kind in types.items()
    )


def _setting_lines(module: ModuleStatus) -> Iterator[tuple[str, str, Role]]:
    for at, setting in enumerate(module.details.settings if module.details is not None else ()):
        whose = _OWNERS.get(setting.owner, setting.owner) if setting.given else "default"
        where = f" ({setting.where})" if setting.where else ""
        line = f"{setting.name}: {one_line(setting.value, 200)}  · {whose}{where}"
        yield "settings" if not at else "", line, "text" if setting.given else "muted"


def _wrapped(label: str, value: str, role: Role, width: int) -> list[Row]:
    indent = 2 + _LABEL if width >= 30 else 4
    room = max(4, width - indent)
    lines = wrap([Span(clean(value).expandtabs(4))], room)
    parts = ["".join(span.text for span in line.spans) for line in lines]
    heading: Row = [("  ", "text"), (fit(label, width - 2), "muted")]
    rows: list[Row] = [[(" " * indent, "text"), (part, role)] for part in parts]
    if width < 30:
        return [heading, *rows]
    rows[0] = [*heading, (" " * (indent - pieces_width(heading)), "text"), (parts[0], role)]
    return rows
