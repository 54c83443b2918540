"""The providers and their keys; with a request to each of them, where that is asked for."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplifier_tui.cli.doctor.findings import Diagnosis
from amplifier_tui.foundation.trust.keys.addresses import KNOWN_KEYS, missing_keys

if TYPE_CHECKING:
    from amplifier_tui.foundation.checks.preview import BundleDescription
    from amplifier_tui.foundation.workspace import Workspace


def look_at_keys(workspace: "Workspace", preview: "BundleDescription") -> Iterator[Diagnosis]:
    """Yield what is found out about the keys of the chosen bundle's providers, and of others."""
    environ, loaded = workspace.environ, set(workspace.keys.loaded)
    names = dict.fromkeys(name for names in KNOWN_KEYS.values() for name in names)
    for name in names:
        if environ.get(name):
            where = "keys.env" if name in loaded else "the environment"
            yield Diagnosis(what=name, said=f"set in {where}")
    for name in workspace.keys.shadowed:
        yield Diagnosis(
            what=name,
            state="note",
            said="in keys.env and in the environment: the environment's is used",
            remedy="Take one of them out if that is not meant.",
        )
    providers, keys_file = preview.plan.get("providers", []), workspace.home / "keys.env"
    for entry in providers:
        missing = missing_keys(entry, environ)
        module = str(entry.get("id") or entry.get("module"))
        if not missing:
            yield Diagnosis(what=module, said="has what it needs")
        else:
            yield Diagnosis(
                what=module,
                state="warning" if preview.missing_keys else "note",
                said=f"{' and '.join(missing)} not set",
                remedy=f"Put it into {keys_file} or the environment. One provider is enough.",
                lines=tuple(f'{name}="…"' for name in missing),
            )
    if not providers and preview.bundle is not None:
        yield Diagnosis(
            what=preview.name,
            state="warning",
            said="the bundle has no provider: nobody would answer",
            remedy="Choose another bundle, or add one under `config.providers` of settings.yaml.",
        )


def look_at_servers() -> Iterator[Diagnosis]:
    """Yield the servers of models that run on this machine."""
    from amplifier_tui.host.models.local_servers import find_local_servers

    for server in asyncio.run(find_local_servers()):
        yield Diagnosis(what=server.name, said=f"lists its models at {server.url}")


async def call_providers(workspace: "Workspace", name: str, only: str = "") -> list[Diagnosis]:
    """Send each provider of a bundle one small request.

    Args:
        only: Part of the names of those that are tried; where there is one provider, it is.

    Raises:
        BundleError: The bundle can't be had.
    """
    from amplifier_tui.cli.trust.question import TerminalAnswers
    from amplifier_tui.host.models.models import why_not_answered
    from amplifier_tui.host.redaction import Redactor

    prepared = await workspace.prepare(name, trust=TerminalAnswers())
    redact = Redactor().text
    found: list[Diagnosis] = []
    async with prepared.create_session(session_cwd=workspace.project) as session:
        mounted = session.coordinator.get("providers") or {}
        tried = {
            each: provider
            for each, provider in mounted.items()
            if only in each or len(mounted) == 1
        }
        for provider_name, provider in tried.items():
            problem = await why_not_answered(provider)
            found.append(
                Diagnosis(
                    what=provider_name,
                    state="warning" if problem else "ok",
                    said=f"does not answer: {redact(problem)}" if problem else "answers",
                    remedy="Look at its key, its address and the network." if problem else "",
                )
            )
    return found
