"""Actions of reading the conversation: find words, go from place to place, take a part out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from textual.app import SuspendNotSupported

from amplifier_tui.ui.state.formats import typed_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amplifier_tui.ui.app.session_app import SessionApp
    from amplifier_tui.ui.session.earlier import EarlierRows
    from amplifier_tui.ui.state.conversation.entries import ConversationEntry, TextEntry

Wanted = Literal["prompt", "error"]

_NONE_THAT_WAY: Final = {
    ("prompt", -1): "No prompt before this.",
    ("prompt", 1): "No prompt after this.",
    ("error", 1): "Nothing has failed.",
}


def find(app: SessionApp, words: str = "") -> None:
    """Look for words in the conversation on screen; without any, ask for them."""
    app.main.uncover()
    app.main.open_find(words, app.keymap.way_to)
    if (earlier := _earlier(app)) is not None:
        earlier.want()


def top(app: SessionApp) -> None:
    """Show the first message."""
    app.main.uncover()
    view = app.main.conversation
    if view is not None:
        view.show_top()
        if (earlier := _earlier(app)) is not None:
            earlier.want(then=lambda _: view.show_top())


def seek(app: SessionApp, what: Wanted, step: int) -> None:
    """Show the next (1) or previous (-1) prompt or error."""
    app.main.uncover()
    view = app.main.conversation
    if view is None:
        return
    wanted = _is_prompt if what == "prompt" else _is_error

    def sought(found: bool) -> None:
        if found:
            view.focus()
        else:
            app.say(_NONE_THAT_WAY[what, step])

    if view.seek(wanted, step):
        sought(found=True)
    elif step < 0 and (earlier := _earlier(app)) is not None:
        earlier.want(lambda: view.seek(wanted, step), sought)
    elif what == "error" and (found := next(filter(wanted, view.entries), None)) is not None:
        view.show_entry(found.key)
        view.focus()
    else:
        sought(found=False)


def _earlier(app: SessionApp) -> EarlierRows | None:
    """Return what fetches the part that is only stored, None where all is on screen."""
    if app.link is None or app.main.agent_view is not None or not app.link.earlier.left:
        return None
    return app.link.earlier


def last_answer(app: SessionApp) -> None:
    """Show the beginning of the agent's last words."""
    from amplifier_tui.ui.state.conversation.entries import TextEntry

    app.main.uncover()
    view = app.main.conversation
    entries = reversed(view.entries) if view is not None else ()
    found = next((each for each in entries if isinstance(each, TextEntry) and each.text), None)
    if view is None or found is None or not view.show_entry(found.key):
        app.say("There is no answer yet.")
    else:
        view.focus()


def copy_code(app: SessionApp, number: str = "") -> None:
    """Copy a block of code of the answer with the cursor, else of the last one that has any."""
    from amplifier_tui.base.text import clean
    from amplifier_tui.ui.transcript.markdown.blocks import code_blocks

    found = (code_blocks(clean(entry.text)) for entry in _answers(app))
    blocks = next(filter(None, found), [])
    if not blocks:
        app.say("No answer has a block of code.")
        return
    at = typed_number(number) if number else len(blocks)
    if at is None or not 1 <= at <= len(blocks):
        app.say(f"That answer has {len(blocks)} blocks of code: write a number from 1.", "warning")
        return
    app.copy(blocks[at - 1], f"block {at} of {len(blocks)}")


def whole(app: SessionApp) -> None:
    """Show what an opened output on the screen leaves out."""
    app.main.uncover()
    view = app.main.conversation
    if view is None or not view.show_a_rest():
        app.say(
            f"No open output in sight leaves lines out; {app.keymap.way_to('view.expand')} opens."
        )


def page_entry(app: SessionApp) -> None:
    """Read the entry with the cursor, else the last answer, in `$PAGER` (`less` without one)."""
    from amplifier_tui.ui.terminal.editor import page_text

    _outside(app, page_text)


def open_entry(app: SessionApp) -> None:
    """Open a copy of the entry with the cursor, else of the last answer, in the user's editor."""
    from amplifier_tui.ui.terminal.editor import edit_text

    _outside(app, edit_text)


def _outside(app: SessionApp, show: Callable[[str], object]) -> None:
    from amplifier_tui.ui.terminal.editor import EditorError
    from amplifier_tui.ui.transcript.entries.renderer import plain_text

    entry = _at_cursor(app) or _answer(app)
    text = plain_text(entry) if entry is not None else ""
    if not text:
        app.say("There is nothing to read yet.")
        return
    try:
        with app.suspend():
            show(text)
    except SuspendNotSupported:
        app.say("This terminal cannot be handed to another program.", "warning")
    except EditorError as error:
        app.say(str(error), "warning")


def _at_cursor(app: SessionApp) -> ConversationEntry | None:
    view = app.main.conversation
    return view.cursor if view is not None and view.has_focus else None


def _answers(app: SessionApp) -> Iterator[TextEntry]:
    """Yield the answer with the cursor, then the others from the newest on."""
    from amplifier_tui.ui.state.conversation.entries import TextEntry

    view = app.main.conversation
    entries = reversed(view.entries) if view is not None else ()
    for entry in (_at_cursor(app), *entries):
        if isinstance(entry, TextEntry) and entry.text:
            yield entry


def _answer(app: SessionApp) -> TextEntry | None:
    return next(_answers(app), None)


def _is_prompt(entry: ConversationEntry) -> bool:
    from amplifier_tui.ui.state.conversation.entries import UserEntry

    return isinstance(entry, UserEntry)


def _is_error(entry: ConversationEntry) -> bool:
    from amplifier_tui.ui.state.conversation.entries import ErrorEntry, ToolEntry

    return isinstance(entry, ErrorEntry) or (
        isinstance(entry, ToolEntry) and entry.state == "failed"
    )
