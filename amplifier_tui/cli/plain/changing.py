"""Changing the arguments of a call before it is allowed, in words."""

import json
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, Protocol

from amplifier_tui.base.text import one_line
from amplifier_tui.cli.plain.choices import Next, NumberedChoice, NumberedQuestion, quoted
from amplifier_tui.host.client import SessionClient

_MOST: Final = 20
"""Arguments that can be chosen one by one."""


class Asking(Protocol):
    """What asks the user."""

    client: SessionClient

    def say(self, text: str) -> None:
        """Write a line."""

    def ask_after(self, answer: "Future[Any]", then: Callable[[Any], Next]) -> None:
        """Ask what `then` makes of the engine's answer, before anything else."""

    def await_judging(self, request_id: str) -> None:
        """Ask nothing else until what became of a request that was changed is known."""


class CallChange:
    """Asks for other arguments of one call.

    Args:
        give_up: Answers the request where nobody can.
        back: Asks about the call as it is.
    """

    def __init__(
        self,
        asking: Asking,
        request_id: str,
        give_up: Callable[[], object],
        back: Callable[[], Next],
    ) -> None:
        self._asking = asking
        self._request_id = request_id
        self._give_up = give_up
        self._back = back
        self._arguments: dict[str, Any] = {}

    def begin(self) -> Next:
        """Ask for the arguments as they are."""
        # Its time does not run out meanwhile.
        self._asking.client.hold(self._request_id)
        answer = self._asking.client.call_arguments(self._request_id)
        self._asking.ask_after(answer, self._which)
        return None

    def _which(self, text: str) -> Next:
        if not text:
            # Somebody has decided; that is said by itself.
            return None
        self._arguments = json.loads(text)
        rows = [
            NumberedChoice(f"{name}: {one_line(_shown(value), 100)}", partial(self._other, name))
            for name, value in list(self._arguments.items())[:_MOST]
        ]
        rows.append(NumberedChoice("All of it, as JSON", self._whole))
        rows.append(NumberedChoice("Nothing", self._back))
        return self._question(["What do you want to change?"], *rows)

    def _other(self, name: str) -> Next:
        def take(text: str) -> Next:
            if not text.strip():
                return self._back()
            value = text
            if not isinstance(self._arguments[name], str):
                try:
                    value = json.loads(text)
                except ValueError as error:
                    self._asking.say(f"This is no JSON: {error}.")
                    return self._other(name)
            return self._send(json.dumps({**self._arguments, name: value}))

        kind = "" if isinstance(self._arguments[name], str) else ", as JSON"
        return self._question(
            [f"{name} is now:", *quoted(_shown(self._arguments[name]))],
            words=take,
            hint=f"Write the new {one_line(name, 60)}{kind}; an empty line changes nothing.",
        )

    def _whole(self) -> Next:
        return self._question(
            ["The arguments are now:", *quoted(json.dumps(self._arguments, ensure_ascii=False))],
            words=lambda text: self._send(text) if text.strip() else self._back(),
            hint="Write all of them as JSON; an empty line changes nothing.",
        )

    def _send(self, text: str) -> Next:
        def taken(problem: str) -> Next:
            if not problem:
                self._asking.await_judging(self._request_id)
                return None
            self._asking.say(f"The call is unchanged: {problem}")
            return self._back()

        answer = self._asking.client.change_call(self._request_id, text)
        self._asking.ask_after(answer, taken)
        return None

    def _question(
        self,
        lines: list[str],
        *choices: NumberedChoice,
        words: Callable[[str], Next] | None = None,
        hint: str = "",
    ) -> NumberedQuestion:
        return NumberedQuestion(
            lines,
            choices,
            request_id=self._request_id,
            given_up=self._give_up,
            words=words,
            hint=hint,
        )


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
