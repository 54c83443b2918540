"""`state.json`: what a session's context and its sources remember, beside the transcript."""

import asyncio
import logging
import warnings
from typing import Any, Final

from amplifier_tui.base.files import move_aside
from amplifier_tui.context.state_file import read_state, write_state
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.sources import Remembers
from amplifier_tui.kernel.mounting.contents import place_of

logger = logging.getLogger(__name__)

FILE_NAME: Final = "state.json"


class StateKeeper:
    """Saves and restores the state of a session's context; nothing it does stops the session."""

    def __init__(self, sender: Sender) -> None:
        self._path = sender.store.folder / FILE_NAME
        self._sender = sender
        self._told: set[str] = set()

    async def save(self, context: Remembers) -> None:
        """Write the state as it is now."""
        data = self.snapshot(context)
        if data is None:
            return
        try:
            places = _places(context)
            for problem in await asyncio.to_thread(write_state, self._path, data, places):
                self._tell(problem)
        except OSError as error:
            reason = error.strerror or str(error)
            self._tell(f"The session's state can't be saved: {reason}")

    def snapshot(self, context: Remembers) -> dict[str, Any] | None:
        """Return the state as it is now, without secrets; None where a source spoils it."""
        try:
            with warnings.catch_warnings():
                # Of a part that has no plain form it is told when it can't be written.
                warnings.simplefilter("ignore", RuntimeWarning)
                data: dict[str, Any] = self._sender.redactor.values(context.to_dict())
        except Exception as error:
            # A source may keep anything there, such as a circle.
            logger.exception("The session's state has no plain form")
            self._tell(f"The session's state can't be saved: {error}")
            return None
        return data

    async def restore(self, context: Remembers) -> None:
        """Take up what was saved, after the rows were; a session of another program has none."""
        try:
            data, problem = await asyncio.to_thread(read_state, self._path)
        except OSError as error:
            reason = error.strerror or str(error)
            self._tell(f"The session's state can't be read: {reason}. It goes on without it.")
            return
        if problem:
            self._tell(f"{problem} The session goes on without it.")
        if data is not None:
            await self.take_up(context, data)

    async def take_up(self, context: Remembers, data: dict[str, Any]) -> None:
        """Have a context go on from a state."""
        try:
            context.restore(data)
        except Exception as error:
            logger.warning("The session's state was not taken up", exc_info=error)
            where = await asyncio.to_thread(self._set_aside)
            self._tell(
                f"The session's state can't be taken up ({error}){where}. It goes on without it."
            )

    def _set_aside(self) -> str:
        """Keep the file for whoever wants to look; returns where it is, in words."""
        try:
            return f"; it is now in {move_aside(self._path).name}"
        except OSError as error:
            logger.warning("%s could not be moved aside: %s", self._path, error)
            return ""

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._sender.notice("warning", text, "store")


def _places(context: Remembers) -> dict[str, str]:
    """Return file and line of each provider of a context, by the name of its part of the state."""
    providers = getattr(context, "context_providers", ())
    return {str(getattr(each, "source_id", "")): place_of(each) for each in providers}
