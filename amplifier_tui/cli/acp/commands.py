"""The commands that a session of an editor does by itself."""

import asyncio

from acp import RequestError, helpers, schema

from amplifier_tui.base.text import one_line
from amplifier_tui.cli.acp.session import EditorSession
from amplifier_tui.cli.acp.updates import OWN_COMMANDS
from amplifier_tui.host.events import Compacted, HostEvent, Notice, Rewound, TitleChanged


async def run_command(session: EditorSession, text: str) -> schema.PromptResponse | None:
    """Run a command, if the prompt is one; its result is sent as a message.

    Raises:
        RequestError: A turn runs.
    """
    name, _, rest = text.strip().partition(" ")
    name = name.removeprefix("/")
    if not text.startswith("/") or name not in OWN_COMMANDS:
        return None
    if session.is_busy:
        raise RequestError(-32600, "A turn is running; stop it first")
    client = session.client
    match name:
        case "compact":
            expected = session.expect(Compacted, "context")
            client.compact(rest.strip() or None)
        case "undo":
            points = await asyncio.wrap_future(client.rewind_points())
            if not points:
                return await _said(session, "There is no turn to take back.")
            preview = await asyncio.wrap_future(client.preview_rewind(points[0].turn))
            if preview.git:
                words = f"{preview.git[:1].upper()}{preview.git[1:]}."
                # Nobody is asked here: the files of one branch do not go onto another.
                if preview.elsewhere:
                    words += " Only the conversation goes back now: /redo brings it back."
                await _tell(session, words)
            files = points[0].files and not preview.elsewhere
            expected = session.expect(Rewound, "rewind")
            client.rewind(points[0].turn, "both" if files else "conversation")
        case "redo":
            expected = session.expect(Rewound, "rewind")
            client.undo_rewind()
        case _ if rest.strip():
            expected = session.expect(TitleChanged)
            client.rename(rest.strip())
        case _:
            return await _said(session, "Give the title after the command: /rename TITLE")
    return await _said(session, _words(await session.answer(expected)))


def _words(event: HostEvent | None) -> str:
    match event:
        case Compacted():
            return f"Compacted from {event.before_tokens} to {event.after_tokens} tokens."
        case Rewound():
            files = (*event.restored, *event.removed)
            changed = f" Files put back: {', '.join(files)}." if files else ""
            left = "Left as they are, changed by you, perhaps by you, or not saved in the editor"
            kept = f" {left}: {', '.join(event.kept)}." if event.kept else ""
            done = "Brought back" if event.undone else "Taken back"
            return f"{done}: the turns from {event.turn} on.{changed}{kept}"
        case TitleChanged():
            return f"The session is called {event.title}."
        case Notice():
            return event.text
    return "It takes longer than expected; its result will follow."


async def _said(session: EditorSession, text: str) -> schema.PromptResponse:
    await _tell(session, text)
    return schema.PromptResponse(stop_reason="end_turn")


async def _tell(session: EditorSession, text: str) -> None:
    await session.send(helpers.update_agent_message_text(f"{one_line(text, 2_000)}\n"))
