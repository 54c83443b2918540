"""The `/` commands that modules bring: expanded in prompts, and told with what can be mentioned."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any, Final

from amplifier_tui.base.capabilities.prompt_commands import CHANNEL, COMMANDS_CHANGED, PromptCommand
from amplifier_tui.base.text import one_line
from amplifier_tui.host.events import CommandCard, CommandsChanged
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.prompt.resources import offered_resources
from amplifier_tui.kernel.coordinator import ModuleCoordinator

_TYPED: Final = re.compile(r"/([\w-]+(?::[\w-]+)?)(?:\s+|\Z)(.*)", re.DOTALL)
_NAME: Final = re.compile(r"[\w-]+")
_MOST: Final = 1_000


class PromptCommands:
    """The commands of one session."""

    def __init__(self, coordinator: ModuleCoordinator, sender: Sender) -> None:
        self._coordinator = coordinator
        self._sender = sender
        self._telling: asyncio.Task[None] | None = None

    async def tell(self) -> None:
        """Tell the front end which commands there are, and which resources."""
        cards = tuple(
            CommandCard(
                group=each.group,
                name=each.name,
                description=one_line(self._sender.redactor.text(each.description), 400),
                takes=one_line(each.takes, 40),
            )
            for each in (await self._found()).values()
        )
        clean = self._sender.redactor.text
        offered = offered_resources(self._coordinator)
        mentions = tuple(each for each in offered if clean(each) == each)
        changed = CommandsChanged(**self._sender.stamp(), commands=cards, mentions=mentions)
        self._sender.send(changed)

    def tell_soon(self) -> None:
        """Tell it in a moment: modules were mounted, or are gone."""
        self._telling = asyncio.get_running_loop().create_task(self.tell())

    def attach(self) -> Any:
        """Tell it again whenever a module says that its commands changed; returns what ends it."""

        async def changed(event: str, data: dict[str, Any]) -> None:
            await self.tell()

        return self._coordinator.hooks.register(COMMANDS_CHANGED, changed, name="prompt-commands")

    async def expanded(self, text: str) -> str:
        """Return a prompt with what its command stands for; one without a command as it is.

        Raises:
            ValueError: The command can't be carried out.
        """
        typed = _TYPED.fullmatch(text.strip())
        if typed is None:
            return text
        found = await self._found()
        name, words = typed.groups()
        named = (each for each in found.values() if name in (each.name, each.full_name))
        command = next(named, None)
        return text if command is None else await command.expand(words.strip())

    async def _found(self) -> dict[str, PromptCommand]:
        offered = await self._coordinator.collect_contributions(CHANNEL)
        found: dict[str, PromptCommand] = {}
        for command in _commands(offered):
            if len(found) < _MOST:
                found.setdefault(command.full_name, command)
        return found


def _commands(offered: list[Any]) -> Iterator[PromptCommand]:
    for commands in offered:
        for each in commands if isinstance(commands, list | tuple) else ():
            if isinstance(each, PromptCommand) and all(
                _NAME.fullmatch(name) for name in (each.group, each.name)
            ):
                yield each
