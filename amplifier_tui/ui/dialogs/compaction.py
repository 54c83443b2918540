"""What compacting the conversation would do, before it is done."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line, short_count
from amplifier_tui.host.client import CompactionPreview
from amplifier_tui.host.events import PlanStep
from amplifier_tui.ui.dialogs.parts.previewing import PreviewingSheet
from amplifier_tui.ui.dialogs.parts.sheet import KeyChoice, KeyRow
from amplifier_tui.ui.fields.text_field import TextField
from amplifier_tui.ui.panes.context.rows import MIXED, SLOTS, become, look_of
from amplifier_tui.ui.state.formats import short_model
from amplifier_tui.ui.state.instruments.budget import (
    BudgetState,
    share_cells,
    source_groups,
    source_label,
)
from amplifier_tui.ui.widgets.scroll_lines import ScrollLines
from amplifier_tui.ui.widgets.text_lines import TextLine

_INSTRUCTIONS_SIZE = 2_000


@dataclass(frozen=True, slots=True)
class CompactChoice:
    """How to compact: by rule, or with instructions for a summary; see `SessionClient.compact`."""

    instructions: str | None = None


class CompactionSheet(PreviewingSheet[CompactChoice, CompactionPreview]):
    """Returns how to compact; None to keep going without.

    `ask` reckons what it would do; nothing can be compacted while it is `busy` with a turn.
    `budget` has the sources and their looks. `instructions` stand in the line for those of a
    summary, and `instruct` begins there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # Before the line and the list, which have a use for enter of their own.
        Binding("enter", "decide", show=False, priority=True),
        Binding("escape", "back", show=False, priority=True),
        Binding("s", "summarise", show=False),
        Binding("i", "instruct", show=False),
    ]
    DECIDES = frozenset(("decide", "summarise", "instruct"))
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    CompactionSheet #compact-title { text-style: bold; color: $text-secondary; }
    CompactionSheet #bars { margin: 1 0; }
    CompactionSheet #steps { background: $panel; }
    CompactionSheet #facts { margin-top: 1; }
    CompactionSheet #summary { height: 1; margin-top: 1; }
    CompactionSheet #summary > Static { width: auto; color: $text-muted; }
    CompactionSheet #instructions { width: 1fr; margin-left: 2; }
    CompactionSheet KeyRow { margin-top: 1; }
    CompactionSheet.-low #bars { margin: 0; }
    CompactionSheet.-low #facts, CompactionSheet.-low #summary { margin: 0; }
    CompactionSheet .-hidden { display: none; }
    """

    def __init__(
        self,
        ask: Callable[[], Future[CompactionPreview]],
        busy: Callable[[], bool],
        *,
        budget: BudgetState,
        instructions: str = "",
        instruct: bool = False,
    ) -> None:
        super().__init__(ask, busy)
        self._budget = budget
        self._first = instructions
        self._instruct = instruct

    def _content(self) -> ComposeResult:
        yield Static("Compact the conversation", id="compact-title")
        yield Static(id="bars")
        yield ScrollLines(id="steps")
        yield Static(id="facts")
        with Horizontal(id="summary"):
            key = (" i ", "bold on $background")
            yield Static(Content.assemble(key, " Instructions for a summary"))
            line = TextField(
                self._first, id="instructions", placeholder="none", select_on_focus=False
            )
            line.max_length = _INSTRUCTIONS_SIZE
            yield line
        yield KeyRow()

    async def _load(self) -> None:
        await super()._load()
        if self._instruct and self._can_summarise:
            self.action_instruct()
        else:
            self._rest()

    @property
    def _can_summarise(self) -> bool:
        return self._preview is not None and bool(self._preview.model)

    @property
    def _can_compact(self) -> bool:
        return self._preview is not None and self._preview.possible

    def _fit(self, rows: int) -> None:
        self.set_class(rows < 18, "-low")
        preview = self._preview
        place = self.query_one("#bars", Static)
        place.set_class(preview is None or preview.before <= 0, "-hidden")
        if preview is not None:
            place.update(bars(preview, max(1, self.app.size.width - 4), self._budget))
        self.call_after_refresh(self._fit_steps)

    def _fit_steps(self) -> None:
        """Give the steps the rows that everything else leaves; the keys are always in view."""
        if not self.is_attached:
            return
        steps, words = self.query_one("#steps"), self.query_one("#facts")
        fixed = self.sheet.styles.padding.height + sum(
            child.outer_size.height + child.styles.margin.height
            for child in self.sheet.children
            if child.display and child is not steps and child is not words
        )
        room = self.room() - fixed - words.styles.margin.height
        words.styles.max_height = max(1, room - (1 if steps.display else 0))
        said = words.get_content_height(self.size, self.size, words.size.width)
        steps.styles.max_height = max(1, room - said)

    def _show(self) -> None:
        preview = self._preview
        steps = self.query_one("#steps", ScrollLines)
        lines = step_lines(preview) if preview is not None and preview.possible else []
        steps.set_lines(lines)
        steps.set_class(not lines, "-hidden")
        if self._problem:
            words = f"It cannot be reckoned: {self._problem}"
            rows = [Content.assemble(("✗ ", "$text-error"), words)]
        elif preview is None:
            rows = [Content.styled("Reckoning…", "$text-muted")]
        else:
            rows = [facts(preview)]
        if self._busy():
            words = "A turn is running: compacting has to wait for its end."
            rows.append(Content.assemble(("! ", "$text-warning"), words))
        self.query_one("#facts", Static).update(Content("\n").join(rows))
        self.query_one("#summary").set_class(not self._can_summarise, "-hidden")
        self._show_keys()
        self._fit(self.room())

    def _show_keys(self) -> None:
        choices: list[KeyChoice] = []
        if self._writing:
            choices.append(KeyChoice("enter", f"Write the summary with {self._model}", "decide"))
        elif self._can_compact:
            choices.append(KeyChoice("enter", "Compact by rule", "decide"))
        if self._can_summarise and not self._writing:
            choices.append(KeyChoice("s", f"Summary by {self._model}", "summarise"))
        leave = "Back" if self._writing else "Close"
        self.query_one(KeyRow).set_choices([*choices, KeyChoice("esc", leave, "back")])

    @property
    def _model(self) -> str:
        return short_model(one_line(self._preview.model, 60)) if self._preview is not None else ""

    @property
    def _writing(self) -> bool:
        # Not `has_focus`, which comes true an event later: keys may be on their way already.
        return self.focused is self.query_one("#instructions")

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _focus_moved(self) -> None:
        self._show_keys()

    def action_decide(self) -> None:
        """Compact by rule; in the line for instructions, with a summary."""
        if self._writing:
            self.action_summarise()
        elif self._can_compact:
            self._finish_with(CompactChoice())
        else:
            self.app.bell()

    def action_summarise(self) -> None:
        """Compact with a summary the model writes."""
        if self._can_summarise:
            self._finish_with(CompactChoice(self.query_one(Input).value.strip()))
        else:
            self.app.bell()

    def action_instruct(self) -> None:
        """Go to the line for the summary's instructions."""
        if self._can_summarise:
            line = self.query_one(Input)
            self.set_focus(line)
            line.cursor_position = len(line.value)
            self._show_keys()
        else:
            self.app.bell()

    def action_back(self) -> None:
        """Leave the line, or close without compacting."""
        if self._writing:
            self._rest()
        else:
            self.finish()

    def _rest(self) -> None:
        """Give the keys to the list, where it scrolls, and to the choices."""
        steps = self.query_one("#steps")
        self.set_focus(steps if steps.display else None)
        self._show_keys()

    def _finish_with(self, choice: CompactChoice) -> None:
        if self._busy():
            # The session would refuse it.
            self._show()
            self.app.bell()
        else:
            self.finish(choice)


_SOURCE = 36
_LEAD = 7
_DATA = 15
_LEAST_BAR = 8


_STYLES = {"primary": "$primary", "accent": "$accent", "success": "$success", "key": "$secondary"}
"""Of the looks of sources; others are muted."""


def bars(preview: CompactionPreview, width: int, budget: BudgetState) -> Content:
    """Return the request as it is and as it would be, to one scale, in the looks of its sources."""
    room = max(_LEAST_BAR, width - _LEAD - _DATA)
    scale = max(preview.window, preview.before, preview.after, preview.target, 1)
    before, after = _by_source(preview, budget)
    rows = [_bar("now", _filled(before, preview.before, scale, room, budget), preview, "")]
    if preview.possible:
        saved = max(0, preview.before - preview.after)
        percent = round(saved * 100 / max(1, preview.before))
        filled = _filled(after, preview.after, scale, room, budget)
        rows.append(_bar("after", filled, preview, f"−{percent}%"))
    return Content("\n").join(rows)


def _by_source(
    preview: CompactionPreview, budget: BudgetState
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the tokens of each source now, and those it would have left."""
    sources = budget.report.sources if budget.report is not None else ()
    before = {group.label: group.tokens for group in source_groups(sources, len(SLOTS))}
    after = dict(before)
    for step in preview.steps:
        label = source_label(step.source)
        if label in after:
            after[label] = max(0, after[label] - max(0, step.before - step.after))
    return before, after


def _filled(
    amounts: dict[str, int], count: int, scale: int, room: int, budget: BudgetState
) -> Content:
    """Return a bar of so many tokens, divided as the sources are."""
    cells = share_cells([count], scale, room)[0] if count else 0
    whole = max(1, sum(amounts.values()))
    own = {label: tokens for label, tokens in amounts.items() if tokens * cells >= whole}
    looks = [*(look_of(budget, label) for label in own), MIXED]
    # What is known of no source is of all of them.
    given = share_cells([*own.values(), whole - sum(own.values())], whole, cells)
    line = Content.assemble(
        *(
            (pattern * size, _STYLES.get(role, "$text-muted"))
            for (pattern, role), size in zip(looks, given, strict=True)
        )
    )
    return Content.assemble(line, ("·" * (room - line.cell_length), "$text-muted"))


def _bar(name: str, line: Content, preview: CompactionPreview, change: str) -> Content:
    room, count = line.cell_length, preview.after if change else preview.before
    if preview.trigger:
        # As in the context pane: where it compacts by itself.
        scale = max(preview.window, preview.before, preview.after, preview.target, 1)
        mark = min(room - 1, preview.trigger * room // scale)
        line = line[:mark] + Content.styled("│", "$text-error") + line[mark + 1 :]
    return Content.assemble(
        (name.ljust(_LEAD), "$text-muted"),
        line,
        f"  {short_count(count):>6}",
        (f"  {change:>5}", "$text-muted"),
    )


def step_lines(preview: CompactionPreview) -> list[TextLine]:
    """Return a line for each thing that would happen."""
    sources = [one_line(step.source, _SOURCE) for step in preview.steps]
    pad = max(map(cell_len, sources), default=0)
    size = max((len(str(step.rows)) for step in preview.steps), default=0)
    return [
        TextLine(
            f"{source}{' ' * (pad - cell_len(source))}  {step.rows:>{size}} {_what(step)}",
            note=f"{short_count(step.before):>6} → {short_count(step.after):>6}",
        )
        for source, step in zip(sources, preview.steps, strict=True)
    ]


def _what(step: PlanStep) -> str:
    noun = "message " if step.rows == 1 else "messages"
    return f"{noun} {become(step.action)}"


def facts(preview: CompactionPreview) -> Content:
    """Return where it aims, what no compaction can remove, and what stays as it is."""
    rows: list[Content] = []
    if not preview.possible:
        words = one_line(preview.reason, 400) or "Compacting would save nothing now."
        rows.append(Content.assemble(("! ", "$text-warning"), words))
    limits = []
    if preview.trigger:
        limits.append(f"│ compacts by itself at {short_count(preview.trigger)}")
    if preview.target:
        limits.append(f"aims at {short_count(preview.target)}")
    if preview.floor:
        limits.append(f"no compaction goes below {short_count(preview.floor)}")
    if limits and preview.before:
        rows.append(Content.styled(" · ".join(limits), "$text-muted"))
    kept = [words for item in preview.kept if (words := one_line(item, 120))]
    if kept and preview.possible:
        rows.append(Content.assemble(("stays  ", "$text-muted"), " · ".join(kept)))
    return Content("\n").join(rows)
