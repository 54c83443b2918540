"""The terminals of an editor, in which commands of a session run."""

import asyncio
import logging

from acp import schema

from amplifier_tui.base.capabilities.client_terminals import TerminalCommand, TerminalEnd
from amplifier_tui.cli.acp.editor.protocol import EDITOR_ERRORS, PATIENCE, Editor, words_of
from amplifier_tui.cli.acp.session import EditorSession

logger = logging.getLogger(__name__)


class EditorTerminals:
    """Runs commands in terminals of the editor; a `ClientTerminals`, called from any thread.

    Args:
        session: Whose commands they are; it is open before the first.
    """

    def __init__(self, editor: Editor, session: EditorSession) -> None:
        self._editor = editor
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._ending: set[asyncio.Task[None]] = set()

    async def run(self, command: TerminalCommand) -> TerminalEnd:
        """Run a command to its end; see `ClientTerminals`."""
        # Cancelling this cancels that.
        running = asyncio.run_coroutine_threadsafe(self._run(command), self._loop)
        try:
            return await asyncio.wrap_future(running)
        except (*EDITOR_ERRORS, TimeoutError) as error:
            raise OSError(words_of(error)) from error

    async def _run(self, command: TerminalCommand) -> TerminalEnd:
        created, over = asyncio.create_task(self._create(command)), False
        try:
            # It may be made although nobody waits for it any more.
            response = await asyncio.wait_for(asyncio.shield(created), PATIENCE)
            await self._session.show_terminal(command.call_id, response.terminal_id)
            end = await self._followed(response.terminal_id, command.timeout)
            over = True
            return end
        finally:
            ending = asyncio.create_task(self._end(created, kills=not over))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _create(self, command: TerminalCommand) -> schema.CreateTerminalResponse:
        program, *arguments = command.words
        variables = command.environment.items()
        return await self._editor.create_terminal(
            session_id=self._session.session_id,
            command=program,
            args=arguments,
            env=[schema.EnvVariable(name=name, value=value) for name, value in variables],
            cwd=str(command.folder),
            output_byte_limit=command.most,
        )

    async def _followed(self, terminal_id: str, timeout: float) -> TerminalEnd:
        names = {"session_id": self._session.session_id, "terminal_id": terminal_id}
        exit_code, signal, timed_out = None, "", False
        try:
            ended = await asyncio.wait_for(self._editor.wait_for_terminal_exit(**names), timeout)
            exit_code, signal = ended.exit_code, ended.signal or ""
        except TimeoutError:
            timed_out = True
            await asyncio.wait_for(self._editor.kill_terminal(**names), PATIENCE)
        printed = await asyncio.wait_for(self._editor.terminal_output(**names), PATIENCE)
        return TerminalEnd(printed.output, printed.truncated, exit_code, signal, timed_out)

    async def _end(
        self, created: "asyncio.Task[schema.CreateTerminalResponse]", *, kills: bool
    ) -> None:
        """Give a terminal back; `kills` ends first what runs there."""
        try:
            terminal_id = (await created).terminal_id
            names = {"session_id": self._session.session_id, "terminal_id": terminal_id}
            try:
                if kills:
                    await self._editor.kill_terminal(**names)
            finally:
                await self._editor.release_terminal(**names)
        except EDITOR_ERRORS as error:
            logger.warning("A terminal is not given back: %s", words_of(error))
