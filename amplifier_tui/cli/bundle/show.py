"""`amplifier-tui bundle show`: a bundle in words and as data."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from amplifier_tui.base.text import shortened
from amplifier_tui.cli.bundle import common
from amplifier_tui.cli.layout import paragraph, table, table_rows

if TYPE_CHECKING:
    from amplifier_tui.foundation.bundle.model import Origin
    from amplifier_tui.foundation.checks.preview import BundleDescription, PlannedFetch
    from amplifier_tui.foundation.checks.preview_modules import PreviewModule
    from amplifier_tui.foundation.report import ReportItem


@click.command(short_help="Show what a bundle would mount.")
@click.argument("name", required=False)
@click.option("--plan", is_flag=True, help="Print the mount plan alone, as YAML.")
@common.json_option
@click.pass_context
def show(context: click.Context, name: str | None, plan: bool, as_json: bool) -> None:
    """Show what a bundle would mount, and who contributes each entry.

    Also its agents and context files, an estimate of the prompt's tokens, missing keys, what would
    be fetched, and which servers would get a key. Nothing is fetched and nothing of the bundle is
    run. Secrets are not printed.
    """
    import asyncio

    workspace = common.open_workspace(context)
    with common.failures(context):
        preview = asyncio.run(workspace.preview(common.chosen(workspace, name)))
    if as_json:
        common.print_json(as_data(preview))
    elif plan:
        from amplifier_tui.base.text import clean
        from amplifier_tui.foundation.io import dump_yaml

        click.echo(clean(dump_yaml(plain_plan(preview))), nl=False)
    else:
        for line in as_lines(preview):
            click.echo(line)
    if preview.bundle is None:
        context.exit(common.FAILED)


_KINDS = {
    "orchestrator": "Session",
    "context": "Session",
    "provider": "Providers",
    "tool": "Tools",
    "hook": "Hooks",
}
_STATES = {
    "ready": "ready",
    "incomplete": "opens without a part of it",
    "needs_key": "needs a key",
    "not_fetched": "not fetched yet",
    "invalid": "not valid",
}


def plain_plan(preview: "BundleDescription") -> dict[str, Any]:
    """Return the mount plan without secrets and without the agents' instructions."""
    from amplifier_tui.host.redaction import Redactor

    # A reference such as ${NAME} is no secret, and says where the value comes from.
    plan: dict[str, Any] = _keep_references(preview.plan, Redactor().fields(preview.plan))
    agents = plan.get("agents")
    if isinstance(agents, dict):
        plan["agents"] = {
            name: {key: value for key, value in agent.items() if key != "instruction"}
            for name, agent in agents.items()
            if isinstance(agent, dict)
        }
    return plan


def as_data(preview: "BundleDescription") -> dict[str, Any]:
    """Return everything there is to know about a bundle as plain data."""
    origins = preview.bundle.origins if preview.bundle is not None else {}
    return {
        "name": preview.name,
        "version": preview.version,
        "description": preview.description,
        "source": preview.source,
        "from": preview.origin,
        "in_place_of": preview.in_place_of,
        "state": preview.state,
        "error": preview.error,
        "error_path": None if preview.error_path is None else str(preview.error_path),
        "error_line": preview.error_line,
        "plan": plain_plan(preview),
        "modules": [_module_data(module) for module in preview.modules],
        "origins": {key: [_origin(each) for each in listed] for key, listed in origins.items()},
        "agents": [asdict(agent) for agent in preview.agents],
        "context_files": list(preview.context_files),
        "prompt": [asdict(part) for part in preview.prompt],
        "base_tokens": preview.base_tokens,
        "missing_keys": list(preview.missing_keys),
        "missing_variables": list(preview.missing_variables),
        "skipped": [asdict(each) for each in preview.skipped],
        "unresolved_context": list(preview.unresolved_context),
        "report": [asdict(each) for each in preview.report],
        "to_fetch": [asdict(each) for each in preview.to_fetch],
        "would_ask": [asdict(each) for each in preview.asked],
        "would_send_keys": [asdict(each) for each in preview.destinations],
    }


def _in_place(preview: "BundleDescription") -> str:
    said = f"It takes the place of {preview.name} ({preview.in_place_of})"
    if preview.origin != "added":
        return f"{said}."
    remedy = f"`amplifier-tui bundle remove {preview.name}` brings that back"
    return f"{said}, also in the includes of other bundles. {remedy}."


def as_lines(preview: "BundleDescription") -> Iterator[str]:
    """Yield the description of a bundle in readable lines."""
    version = f" {preview.version}" if preview.version else ""
    # Of what was named by its URI, nothing else is known than that.
    origin = f" · {preview.origin}" if preview.origin not in ("", preview.name) else ""
    yield from paragraph(f"{preview.name}{version}{origin} · {_STATES[preview.state]}")
    if preview.in_place_of:
        yield from paragraph(_in_place(preview))
    if preview.description:
        yield from paragraph(preview.description)
    if preview.source != preview.name:
        yield from paragraph(preview.source)
    if preview.state in ("invalid", "not_fetched"):
        yield ""
        for line in preview.error.splitlines():
            yield from paragraph(line)
    yield from _modules(preview)
    yield from _agents(preview)
    yield from report_lines(preview.report)
    files = [
        (file, _contributors(_origins(preview, f"context:{file.removeprefix('@')}")))
        for file in preview.context_files
    ]
    yield from _section("Context files", table(files, indent=2))
    if preview.bundle is not None:
        parts = [(f"{part.tokens}", part.source_id) for part in preview.prompt]
        head = f"Prompt: about {preview.base_tokens} tokens, before the tools' schemas"
        yield from _section(head, table(parts, indent=2))
    yield from _wants(preview)


def _modules(preview: "BundleDescription") -> Iterator[str]:
    plan = plain_plan(preview)
    for title in dict.fromkeys(_KINDS.values()):
        modules = [module for module in preview.modules if _KINDS[module.kind] == title]
        heads = table_rows(
            [(_named(module), _contributors(module.origins)) for module in modules], indent=2
        )
        lines: list[str] = []
        for module, head in zip(modules, heads, strict=True):
            lines += [*head, *_details(module, _config_of(plan, module))]
        if title == "Session":
            lines += _session_rest(preview, plan)
        yield from _section(title, lines)


def _session_rest(preview: "BundleDescription", plan: Mapping[str, Any]) -> Iterator[str]:
    """What a session says beside its modules, and the policy for agents."""
    session = plan.get("session") or {}
    rest = {key: value for key, value in session.items() if key not in ("orchestrator", "context")}
    parts = [("session", key, value) for key, value in rest.items()]
    parts += [("spawn", key, value) for key, value in (plan.get("spawn") or {}).items()]
    heads = table_rows(
        [(key, _contributors(_origins(preview, f"{part}:{key}"))) for part, key, _ in parts],
        indent=2,
    )
    for head, (_, _, value) in zip(heads, parts, strict=True):
        yield from head
        yield from paragraph(shortened(common.as_text(value), 300), indent=6)


def _agents(preview: "BundleDescription") -> Iterator[str]:
    heads = table_rows(
        [
            (agent.name, _contributors(_origins(preview, f"agent:{agent.name}")))
            for agent in preview.agents
        ],
        indent=2,
    )
    lines: list[str] = []
    for agent, head in zip(preview.agents, heads, strict=True):
        lines += [*head, *(paragraph(agent.description, indent=6) if agent.description else ())]
    yield from _section("Agents", lines)


def _named(module: "PreviewModule") -> str:
    return f"{module.module_id} ({module.instance})" if module.instance else module.module_id


def _origins(preview: "BundleDescription", key: str) -> "list[Origin]":
    return preview.bundle.origins.get(key, []) if preview.bundle is not None else []


def _details(module: "PreviewModule", config: Mapping[str, Any]) -> Iterator[str]:
    if module.source:
        yield from paragraph(f"from {module.source}", indent=6)
    for key, value in config.items():
        yield from paragraph(f"{key}: {shortened(common.as_text(value), 300)}", indent=6)
    if module.missing_keys:
        yield from paragraph(f"needs {' or '.join(module.missing_keys)}", indent=6)
    if module.state != "ready":
        yield from paragraph(f"! {module.problem}", indent=6)


def _wants(preview: "BundleDescription") -> Iterator[str]:
    missing = (*preview.missing_keys, *preview.missing_variables)
    keys = [line for name in missing for line in paragraph(name, indent=2)]
    yield from _section("Not set", keys)
    fetched = [(each.uri, f"{_subject(each)}{_by(each.included_by)}") for each in preview.to_fetch]
    yield from _section("Would be fetched", table(fetched, indent=2))
    servers = [
        (each.url, f"gets {each.sends} from {each.module_id}{_by(each.included_by)}")
        for each in preview.destinations
    ]
    yield from _section(
        "Would get a key or what is said, if you allow it", table(servers, indent=2)
    )
    asked = [(each.title, each.group, each.where or each.detail) for each in preview.asked]
    yield from _section("Would be asked about, if it was not yet", table(asked, indent=2))


def report_lines(report: "Iterable[ReportItem]") -> Iterator[str]:
    """Yield what a bundle opens without, or has otherwise: the reason, who asks, what helps."""
    lines: list[str] = []
    for item in report:
        lines += paragraph(f"{item.what} · {item.kind}", indent=2)
        by = ", ".join(part for part in (item.asked_by, item.owner, item.where) if part)
        rest = (item.why, f"asked for by {by}" if by else "", item.remedy)
        lines += [line for text in rest if text for line in paragraph(text, indent=6)]
    yield from _section("Would open without", lines)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield ""
        yield common.style(title, bold=True)
        yield from listed


def _contributors(origins: "Iterable[Origin]") -> str:
    return ", ".join(
        (
            f"{each.bundle} ({each.via_behavior})"
            if each.via_behavior not in (None, each.bundle)
            else each.bundle
        )
        + ("" if each.owner.is_trusted else f" · {each.owner}")
        for each in origins
    )


def _subject(fetch: "PlannedFetch") -> str:
    return fetch.kind if fetch.subject == fetch.uri else f"{fetch.kind} {fetch.subject}"


def _by(names: Iterable[str]) -> str:
    listed = " → ".join(names)
    return f", asked for by {listed}" if listed else ""


def _config_of(plan: Mapping[str, Any], module: "PreviewModule") -> Mapping[str, Any]:
    if module.kind in ("orchestrator", "context"):
        entries = [plan.get("session", {}).get(module.kind)]
    else:
        entries = plan.get(f"{module.kind}s") or []
    for entry in entries:
        if not isinstance(entry, Mapping) or entry.get("module") != module.module_id:
            continue
        if str(entry.get("id") or "") == module.instance:
            config = entry.get("config")
            return config if isinstance(config, Mapping) else {}
    return {}


def _module_data(module: "PreviewModule") -> dict[str, Any]:
    return {**asdict(module), "origins": [_origin(each) for each in module.origins]}


def _origin(origin: "Origin") -> dict[str, Any]:
    return {
        "bundle": origin.bundle,
        "via": origin.via_behavior,
        "owner": str(origin.owner),
        "path": None if origin.path is None else str(origin.path),
    }


def _keep_references(value: Any, redacted: Any) -> Any:
    if isinstance(value, str) and value.startswith("${") and value.endswith("}"):
        return value
    if isinstance(value, dict) and isinstance(redacted, dict):
        return {key: _keep_references(value[key], redacted[key]) for key in value}
    if isinstance(value, list) and isinstance(redacted, list):
        return [_keep_references(*pair) for pair in zip(value, redacted, strict=True)]
    return redacted
