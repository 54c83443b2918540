"""hooks-redaction: secrets stay out of what the model reads and of what later hooks get.

What a tool answers is changed before the model sees it. The data of all other events is changed for
the hooks that run later, such as a log. What a tool is called with is never changed: it would do
something else than the model asked for, so ``tool:pre`` is left alone.

Config:
    rules: What to look for. ``secrets`` (default): published formats of API keys, private keys,
        bearer tokens, and the values of this program's own secret variables. ``assignments``
        (default): values in lines like ``DB_PASSWORD=…``. ``fields`` (default): values of fields
        with names like ``api_key``; events only. ``pii``: e-mail addresses and phone numbers.
    patterns: More regular expressions, a list of texts or a mapping of names to texts. Where one
        has a group, the group is what is replaced.
    allow: Regular expressions of texts that are no secrets, such as an example key.
    prompts: Whether the user's own prompts, with the files in them, are changed too. Default
        false: who gives the agent a key to work with means it. The user is told what was sent.
    tell: Whether to show the user that something was kept from the model. Default true.
    priority: Of the handlers. Default 10.
"""

import os
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, field_validator

from amplifier_tui.base.capabilities.prompt_redaction import CAPABILITY
from amplifier_tui.base.config import ModuleSettings, Texts
from amplifier_tui.base.secrets import RULES, is_secret_name, replace_secrets, secret_values
from amplifier_tui.kernel import events
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.models import HookResult

__amplifier_module_type__ = "hook"

NAME: Final = "hooks-redaction"
Emit = Callable[[str, dict[str, Any]], Awaitable[Any]]

_CONTINUE: Final = HookResult(action="continue")
_MARK: Final = re.compile(r"\[REDACTED(?::[\w-]*)?\]")


def _compiled(value: Any) -> Any:
    """Patterns with a name each, from a text, a list or a mapping of names to texts."""
    if isinstance(value, Mapping):
        listed = [(str(name), text) for name, text in value.items()]
    elif isinstance(value, str | list | tuple):
        listed = [("pattern", text) for text in ([value] if isinstance(value, str) else value)]
    else:
        raise ValueError("must be a list of regular expressions")
    return tuple((name, _pattern(text)) for name, text in listed)


def _pattern(text: Any) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except (re.error, TypeError, OverflowError) as error:
        raise ValueError(f"has {text!r}, which is no regular expression: {error}") from error
    if pattern.match("") is not None:
        raise ValueError(f"has {text!r}, which matches nothing at all")
    return pattern


Patterns = Annotated[tuple[tuple[str, re.Pattern[str]], ...], BeforeValidator(_compiled)]


class RedactionSettings(ModuleSettings):
    """What a bundle may say about redaction; see the package's docstring."""

    module: ClassVar[str] = NAME

    rules: Texts = ("secrets", "assignments", "fields")
    patterns: Patterns = ()
    allow: Patterns = ()
    prompts: bool = False
    tell: bool = True
    priority: int = 10

    @field_validator("rules")
    @classmethod
    def _known(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        if any(rule not in (*RULES, "fields") for rule in rules):
            raise ValueError("must be a list of secrets, assignments, fields, pii")
        return rules


_NEVER: Final = frozenset(
    {
        *("session_id", "parent_id", "timestamp", "tool_call_id", "tool_name", "tool_input"),
        "request_id",
    }
)
"""Top-level fields that stay: ids, and what a tool was called with."""


class RedactionHook:
    """Handler of everything.

    Args:
        settings: What to look for.
        emit: Emits an event: what was kept from the model is told to the user.
        environ: The program's variables; None for ``os.environ``.
    """

    def __init__(
        self, settings: RedactionSettings, emit: Emit, environ: Mapping[str, str] | None = None
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._environ = os.environ if environ is None else environ
        self._rules = tuple(rule for rule in RULES if rule in settings.rules)

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        """Replace what is secret in an event's data, this handler's own copy."""
        by_name = "fields" in self._settings.rules and event != events.TOOL_POST
        values = self.values()
        kinds: list[str] = []
        done: dict[str, str] = {}

        def visit(value: Any, name: Any = None) -> Any:
            if isinstance(value, dict):
                return {key: visit(item, key) for key, item in value.items()}
            if isinstance(value, list):
                return [visit(item) for item in value]
            if not isinstance(value, str) or not value:
                return value
            if by_name and is_secret_name(name):
                kinds.append("field")
                return "[REDACTED]"
            if value not in done:  # A tool's result is in its event twice.
                done[value], found = self.text(value, values)
                kinds.extend(found)
            return done[value]

        changed = {
            name: value if name in _NEVER else visit(value, name) for name, value in data.items()
        }
        if not kinds:
            return _CONTINUE
        if event == events.TOOL_POST and self._settings.tell:
            counted = ", ".join(
                f"1 {kind}" if count == 1 else f"{count} {kind}s"
                for kind, count in Counter(kinds).items()
            )
            what = f"{counted} in what {data.get('tool_name')} said"
            notice = {"message": f"Kept from the model: {what}", "level": "info", "source": NAME}
            await self._emit(events.USER_NOTIFICATION, notice)
        return HookResult(action="modify", data=changed)

    def values(self) -> list[str]:
        """Return the secret values there are now; a key may be given while the program runs."""
        if "secrets" not in self._settings.rules:
            return []
        return [value for value in secret_values(self._environ) if not self._is_allowed(value)]

    def text(self, text: str, values: list[str]) -> tuple[str, list[str]]:
        """Return a text without secrets and these values, and the kinds of what was replaced."""
        kinds: list[str] = []
        for value in values:
            if value in text:
                kinds.append("api-key")
                text = text.replace(value, "[REDACTED:api-key]")

        def marker(secret: str, kind: str) -> str | None:
            if _MARK.search(secret) or self._is_allowed(secret):
                return None
            kinds.append(kind)
            return f"[REDACTED:{kind}]"

        text = replace_secrets(text, marker, self._rules)
        for kind, pattern in self._settings.patterns:
            text = _replaced(pattern, text, partial(marker, kind=kind))
        return text, kinds

    def _is_allowed(self, secret: str) -> bool:
        return any(pattern.search(secret) for _, pattern in self._settings.allow)


def _replaced(pattern: re.Pattern[str], text: str, marker: Callable[[str], str | None]) -> str:
    def replacement(match: re.Match[str]) -> str:
        # Where the pattern has groups, the first that took part is the secret.
        group = next((number for number, part in enumerate(match.groups(), 1) if part), 0)
        mark = marker(match.group(group))
        if mark is None:
            return match.group()
        before = match.string[match.start() : match.start(group)]
        return f"{before}{mark}{match.string[match.end(group) : match.end()]}"

    return pattern.sub(replacement, text)


_LEFT_ALONE = frozenset(
    {
        events.TOOL_PRE,
        # One per token: no piece of them is long enough to tell, and their sum comes again.
        events.CONTENT_BLOCK_DELTA,
        events.THINKING_DELTA,
    }
)


async def mount(
    coordinator: ModuleCoordinator, config: dict[str, Any] | None = None
) -> Callable[[], None]:
    """Register the handlers; the function it returns unregisters them."""
    settings = RedactionSettings.read(config)
    hook = RedactionHook(settings, coordinator.hooks.emit)
    names = [name for name in events.ALL_EVENTS if name not in _LEFT_ALONE]
    if settings.prompts:
        coordinator.register_capability(CAPABILITY, lambda text: hook.text(text, hook.values())[0])
    else:
        names.remove(events.PROMPT_SUBMIT)
    registered = [
        coordinator.hooks.register(name, hook, priority=settings.priority, name=NAME)
        for name in names
    ]

    def cleanup() -> None:
        if settings.prompts:
            coordinator.register_capability(CAPABILITY, None)
        for unregister in registered:
            unregister()

    return cleanup
