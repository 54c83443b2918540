"""What is said of going back: before it, and when it was done."""

from collections.abc import Collection

from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import RewindFile, RewindPreview
from amplifier_tui.host.events import Rewound
from amplifier_tui.ui.state.formats import plural
from amplifier_tui.ui.widgets.pick_list import PickRow

_NAMED = 3


def file_row(file: RewindFile, overwrite: bool) -> PickRow:
    """Return what becomes of a file."""
    glyph, style, note = "~", "$text-muted", ""
    if file.problem:
        glyph, style, note = "✗", "$text-error", f"stays: {one_line(file.problem, 200)}"
    elif file.conflict and not (file.perhaps and overwrite):
        glyph, style = "!", "$text-warning"
        note = f"{'overwritten' if overwrite else 'stays'}: {one_line(file.conflict, 200)}"
    elif file.action == "removed":
        glyph, style, note = "−", "$text-error", "is deleted"
    elif file.gone:
        glyph, style, note = "+", "$text-success", "comes back"
    if file.perhaps and overwrite:
        note = f"{note or 'goes back'}: {one_line(file.conflict, 200)}"
    if not note:
        by = f"by `{one_line(file.command, 60)}`" if file.command else ""
        if file.together:
            by = f"by one of {file.together} commands that ran together"
        note = " · ".join(filter(None, (one_line(file.note, 100), by)))
    left = Content.assemble(
        (f"{glyph} ", style), one_line(file.path, 200), (f"  {note}" if note else "", "$text-muted")
    )
    counts = [(f"+{file.added}", "$text-success")] if file.added else []
    counts += [(f" −{file.removed}", "$text-error")] if file.removed else []
    return PickRow(file.path, left, Content.assemble(*counts) if counts else Content())


def facts(
    preview: RewindPreview | None,
    problem: str,
    *,
    busy: bool,
    along: Collection[str] = (),
    key: str = "",
) -> Content:
    """Return what is to be known before it is done.

    Args:
        along: Files that go back all the same.
        key: What takes along, or leaves, all that perhaps changed while commands ran.
    """
    rows: list[Content] = []
    if problem:
        rows.append(Content.assemble(("✗ ", "$text-error"), problem))
    elif preview is None:
        rows.append(Content.styled("Looking at the files…", "$text-muted"))
    else:
        turns = plural(preview.turns, "turn")
        rows.append(Content(f"Takes back {turns}, and puts the prompt into the draft."))
        if preview.problem:
            rows.append(Content.assemble(("! ", "$text-warning"), one_line(preview.problem, 300)))
        elif not preview.files:
            rows.append(Content.styled("No file changed since, as far as was seen.", "$text-muted"))
        if said := _perhaps(preview, along, key):
            rows.append(Content.assemble(("! ", "$text-warning"), said))
        # The names of branches leave room for what to do.
        left = [one_line(preview.git, 600)] if preview.git else []
        left += [one_line(why, 300) for why in preview.unseen]
        rows += [Content.assemble(("! ", "$text-warning"), f"Not covered: {why}") for why in left]
        if preview.running:
            names = ", ".join(one_line(job, 80) for job in preview.running[:_NAMED])
            more = len(preview.running) - _NAMED
            names += f" and {more} more" if more > 0 else ""
            stops = "/jobs stops it" if len(preview.running) == 1 else "/jobs stops them"
            rows.append(Content.assemble(("! ", "$text-warning"), f"Runs on: {names}. {stops}"))
        rows.append(
            Content.styled(
                "Files outside the workspace, ignored ones and empty folders stay as they are. "
                "/redo brings everything back.",
                "$text-muted",
            )
        )
    if busy:
        words = "A turn is running: it has to end first."
        rows.append(Content.assemble(("! ", "$text-warning"), words))
    return Content("\n").join(rows)


def _perhaps(preview: RewindPreview, along: Collection[str], key: str) -> str:
    """Return in one line what becomes of files that the user perhaps changed; empty for none."""
    files = [file for file in preview.files if file.perhaps and not file.problem]
    if not files:
        return ""
    whys = {file.conflict for file in files}
    why = "changed while commands ran, perhaps by you"
    why = one_line(whys.pop(), 120) if len(whys) == 1 else why
    left = sum(file.path not in along for file in files)
    one = len(files) == 1
    them = "it" if one else "them"
    if not left:
        done, does = "it goes back, too" if one else "they go back, too", f"leaves {them}"
    else:
        stay = "it stays" if one else "they stay" if left == len(files) else f"{left} stay"
        done, does = stay, f"takes {them} along"
    return f"{plural(len(files), 'file')} {why}: {done}" + (f". {key} {does}" if key else "")


def is_plain(preview: RewindPreview) -> bool:
    """Whether going back needs no question: nothing of the user's is in the way, all was seen."""
    if preview.problem or preview.unseen or preview.git or preview.running:
        return False
    return not any(file.conflict or file.problem or file.command for file in preview.files)


def done_words(event: Rewound, draft_kept: bool, redo: str = "/redo") -> str:
    """Return what was done, in one line; `redo` is how to undo it with a prompt in the draft."""
    parts: list[str] = []
    if event.scope != "files":
        verb = "brought back" if event.undone else "taken back"
        parts.append(f"{plural(event.turns, 'turn')} {verb}")
    if changed := len(event.restored) + len(event.removed):
        parts.append(f"{plural(changed, 'file')} put back")
    elif event.scope == "files":
        parts.append("no file was put back")
    for names, why in (
        (event.kept, "left, as you may have changed it"),
        (event.failed, "not possible"),
    ):
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            listed = ", ".join(one_line(name, 40) for name in names[:_NAMED])
            parts.append(f"{why}: {listed}{more}")
    if draft_kept:
        parts.append("your draft was kept, the prompt is in the history")
    if not event.undone:
        parts.append(f"{redo} undoes this")
    words = " · ".join(parts)
    return words[:1].upper() + words[1:]
