"""The settings of a session's modules: what they are, whose, and which may be changed."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import PydanticUndefined

from amplifier_tui.base.config import ModuleSettings, expected
from amplifier_tui.base.secrets import is_secret_name
from amplifier_tui.foundation.bundle.model import Origin
from amplifier_tui.foundation.checks.known_keys import unknown_in_entry
from amplifier_tui.foundation.checks.module_settings import settings_of
from amplifier_tui.foundation.trust.layers import GUARDS, plain_id
from amplifier_tui.host.client import ModuleSetting
from amplifier_tui.host.redaction import REDACTED, Redactor
from amplifier_tui.host.session.modules.facts import Planned

_GUARD = "guards you: its settings are changed in settings.yaml, not while it runs"


def settings_refusal(
    planned: Planned, setting: str, config: Mapping[str, Any], redactor: Redactor
) -> str:
    """Return why a setting may not be changed, or why a config makes no sense; else nothing."""
    if plain_id(planned.module_id) in GUARDS:
        return f"{planned.key} {_GUARD}"
    if planned.kind == "context":
        return f"{planned.key} holds the conversation: its settings are changed in the bundle"
    if is_secret_name(setting):
        return f"{setting} of {planned.key} is a secret: it belongs into keys.env"
    held, wanted = (_as_json(each.get(setting)) for each in (_config(planned), config))
    if REDACTED in wanted and redactor.text(held) != held:
        return (
            f"{setting} of {planned.key} is as it was: it holds a secret, which is shown as "
            f"{REDACTED}; write the whole value anew, or change it in settings.yaml"
        )
    model = _model(planned)
    if model is None:
        return _of_another_form(setting, _config(planned).get(setting), config.get(setting))
    problems = model.problems(config)
    return "; ".join(problem.message for problem in problems if problem.key == setting)


def _of_another_form(setting: str, held: Any, wanted: Any) -> str:
    """Return why a value is none for a setting of which nothing is known but what it was."""
    if not isinstance(wanted, str):
        return ""
    if wanted[:1] in ("[", "{") or isinstance(held, list | dict):
        example = (
            '{"name": "value"}' if isinstance(held, dict) or wanted[:1] == "{" else '["a", "b"]'
        )
        return f"{setting} is as it was: {wanted} is no JSON such as {example}"
    return ""


def describe_settings(
    planned: Planned, origins: Mapping[str, tuple[Origin, int]], redactor: Redactor
) -> Iterator[ModuleSetting]:
    """Yield the settings of a module: those it was given, then the others it has.

    Args:
        origins: Who has the last word about a setting, and the line of it.
    """
    given = _config(planned)
    model = _model(planned)
    fields = {} if model is None else model.model_fields
    names = {field.alias or name: field for name, field in fields.items()}
    refusable = settings_refusal(planned, "", {}, redactor)
    for name in dict.fromkeys((*map(str, given), *names)):
        field = names.get(name)
        secret = is_secret_name(name) or (field is not None and not field.repr)
        if name in given:
            value = given[name]
            owner, where = _whose(planned, name, origins)
        else:
            value = field.get_default(call_default_factory=True) if field is not None else None
            value = None if value is PydanticUndefined else value
            owner, where = "program", ""
        text = _as_json(value)
        shown = REDACTED if secret and value else redactor.text(text)
        yield ModuleSetting(
            name=name,
            value=shown,
            owner=owner,
            where=where,
            about=expected(field) if field is not None else "",
            given=name in given,
            editable=not (secret or refusable),
            redacted=shown != text,
        )


def ignored_settings(planned: Planned) -> Iterator[str]:
    """Yield what is wrong with the keys in a module's entry and its settings that mean nothing."""
    yield from (problem for _, problem in unknown_in_entry(planned.spec))
    config = _config(planned)
    model = _model(planned) if config else None
    for problem in model.problems(config) if model is not None else ():
        if not problem.known:
            yield problem.message


def _config(planned: Planned) -> Mapping[str, Any]:
    config = planned.spec.get("config")
    return config if isinstance(config, Mapping) else {}


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _whose(
    planned: Planned, name: str, origins: Mapping[str, tuple[Origin, int]]
) -> tuple[str, str]:
    if name in planned.own_settings:
        return "user", "set in this session"
    if name not in origins:
        return planned.owner, planned.origin
    origin, line = origins[name]
    return str(origin.owner), f"{origin.path}:{line}"


def _model(planned: Planned) -> type[ModuleSettings] | None:
    return None if planned.source else settings_of(planned.module_id)
