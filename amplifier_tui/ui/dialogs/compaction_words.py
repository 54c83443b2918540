"""What the compaction dialog says, made from the preview."""

from rich.cells import cell_len
from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import CompactionPreview
from amplifier_tui.host.events import PlanStep
from amplifier_tui.ui.state.formats import tokens
from amplifier_tui.ui.state.instruments.budget import share_cells
from amplifier_tui.ui.widgets.scroll_lines import TextLine

_DONE = {"truncate": "shortened", "stub": "shortened", "drop": "left out", "summary": "summarised"}
_SOURCE = 36
_LEAD = 7
_DATA = 15
_LEAST_BAR = 8


def bars(preview: CompactionPreview, width: int) -> Content:
    """Return the request as it is and as it would be, to one scale."""
    room = max(_LEAST_BAR, width - _LEAD - _DATA)
    scale = max(preview.before, preview.after, preview.target, 1)
    rows = [_bar("now", preview.before, scale, room, preview, "")]
    if preview.possible:
        saved = max(0, preview.before - preview.after)
        percent = round(saved * 100 / max(1, preview.before))
        rows.append(_bar("after", preview.after, scale, room, preview, f"−{percent}%"))
    return Content("\n").join(rows)


def _bar(
    name: str, count: int, scale: int, room: int, preview: CompactionPreview, change: str
) -> Content:
    cells = share_cells([count], scale, room)[0] if count else 0
    rest = "·" * (room - cells)
    mark = min(room - 1, preview.target * room // scale) if preview.target else -1
    full = Content.styled("█" * cells, "$primary")
    line = full + Content.styled(rest, "$text-muted")
    if mark >= 0:
        line = line[:mark] + Content.styled("│", "$text-error") + line[mark + 1 :]
    return Content.assemble(
        (name.ljust(_LEAD), "$text-muted"),
        line,
        f"  {tokens(count):>6}",
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
            note=f"{tokens(step.before):>6} → {tokens(step.after):>6}",
        )
        for source, step in zip(sources, preview.steps, strict=True)
    ]


def _what(step: PlanStep) -> str:
    noun = "message " if step.rows == 1 else "messages"
    return f"{noun} {_DONE.get(step.action, one_line(step.action, 20))}"


def facts(preview: CompactionPreview) -> Content:
    """Return where it aims, what no compaction can remove, and what stays as it is."""
    rows: list[Content] = []
    if not preview.possible:
        words = one_line(preview.reason, 400) or "Compacting would save nothing now."
        rows.append(Content.assemble(("! ", "$text-warning"), words))
    limits = []
    if preview.target:
        limits.append(f"│ aims at {tokens(preview.target)}")
    if preview.floor:
        limits.append(f"no compaction goes below {tokens(preview.floor)}")
    if limits and preview.before:
        rows.append(Content.styled(" · ".join(limits), "$text-muted"))
    kept = [words for item in preview.kept if (words := one_line(item, 120))]
    if kept and preview.possible:
        rows.append(Content.assemble(("stays  ", "$text-muted"), " · ".join(kept)))
    return Content("\n").join(rows)
