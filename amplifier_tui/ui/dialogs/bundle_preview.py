"""What a bundle would mount, as the text beside the picker's list."""

from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import BundleCard, BundlePreview, BundleState, PlannedModule
from amplifier_tui.ui.state.formats import tokens

STATES: dict[BundleState, tuple[str, str, str]] = {
    "ready": ("✓", "$text-success", "ready"),
    "needs_key": ("!", "$text-warning", "needs a key"),
    "not_fetched": ("↓", "$text-muted", "not fetched yet"),
    "invalid": ("✗", "$text-error", "invalid"),
}
"""Glyph, colour and words of each state."""

_LABEL = 14
"""Cells of the first column."""

_KINDS = ("orchestrator", "context", "provider", "tool", "hook")


def preview_content(preview: BundlePreview, width: int) -> Content:
    """Lay a preview out.

    Args:
        preview: What the host found without running any of the bundle's code.
        width: Cells there are.
    """
    rows = [*card_rows(preview.card, width, preview.version), Content()]
    for kind in sorted({m.kind for m in preview.modules}, key=_order):
        for at, module in enumerate(m for m in preview.modules if m.kind == kind):
            label = one_line(kind, _LABEL - 2) if at == 0 else ""
            rows.append(_module_row(label, module, preview.card.name, width))
    if preview.modules:
        rows.append(Content())
    rows += _names("agents", preview.agents)
    rows += _names("context", preview.context_files)
    if preview.base_tokens:
        words = f"≈ {tokens(preview.base_tokens)} tokens before the first word"
        rows.append(_labelled("size", Content.styled(words, "$text-muted")))
    rows += _names("skipped", preview.skipped, "$text-warning")
    return Content("\n").join(rows)


def card_rows(card: BundleCard, width: int, version: str = "") -> list[Content]:
    """Return what the list itself knows about a bundle."""
    glyph, colour, words = STATES[card.state]
    name = Content.assemble(
        (one_line(card.name, 80), "bold"),
        (f"  {one_line(version, 20)}" if version else "", "$text-muted"),
    )
    state = Content.assemble(
        (f"{glyph} {words}", colour),
        (f" · {one_line(card.origin)}" if card.origin else "", "$text-muted"),
    )
    rows = [_spread(name, state, width)]
    if card.description:
        rows.append(Content.styled(one_line(card.description), "$text-muted"))
    if card.missing:
        names = ", ".join(one_line(name, 60) for name in card.missing)
        rows.append(Content.styled(f"Set {names} to use it.", "$text-warning"))
    if card.error:
        rows.append(Content.styled(one_line(card.error, 1_000), "$text-error"))
    return rows


def _order(kind: str) -> tuple[int, str]:
    return (_KINDS.index(kind) if kind in _KINDS else len(_KINDS), kind)


def _spread(left: Content, right: Content, width: int) -> Content:
    """Put two pieces at the ends of a row, or on two rows when it is too short."""
    gap = width - left.cell_length - right.cell_length
    if gap < 2:
        return Content("\n").join([left, right])
    return Content.assemble(left, " " * gap, right)


def _labelled(label: str, body: Content) -> Content:
    return Content.assemble((label.ljust(_LABEL), "$text-secondary"), body)


def _module_row(label: str, module: PlannedModule, bundle: str, width: int) -> Content:
    body = Content.assemble(
        one_line(module.module_id, 80),
        (f"  {one_line(module.detail, 60)}" if module.detail else "", "$text-muted"),
    )
    left = _labelled(label, body).truncate(width, ellipsis=True)
    origin = Content.styled(one_line(module.origin, 80), "$text-muted")
    room = width - left.cell_length - 2
    if module.origin in ("", bundle) or room < 6:
        return left
    return _spread(left, origin.truncate(room, ellipsis=True), width)


def _names(label: str, names: tuple[str, ...], style: str = "") -> list[Content]:
    return [
        _labelled(label if at == 0 else "", Content.styled(one_line(name, 300), style))
        for at, name in enumerate(names)
    ]
