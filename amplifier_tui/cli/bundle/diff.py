"""`amplifier-tui bundle diff`."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import click

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import shortened
from amplifier_tui.cli.bundle import common

if TYPE_CHECKING:
    from amplifier_tui.foundation.checks.preview import BundleDescription

_COLORS = {"-": "red", "+": "green", "~": "yellow"}


@click.command(short_help="Compare two bundles as they take effect here.")
@click.argument("a")
@click.argument("b")
@common.json_option
@click.pass_context
def diff(context: click.Context, a: str, b: str, as_json: bool) -> None:
    """Compare bundle A with bundle B as they take effect here.

    `-` is only in A, `+` only in B, `~` in both and different. Nothing is fetched and nothing of
    the bundles is run.
    """
    import asyncio

    from amplifier_tui.cli.layout import paragraph
    from amplifier_tui.foundation.exceptions import BundleError

    workspace = common.open_workspace(context)
    with common.failures(context):
        previews = [
            asyncio.run(workspace.preview(common.chosen(workspace, name))) for name in (a, b)
        ]
        for preview in previews:
            if preview.bundle is None:
                raise BundleError(preview.error)
    changes = compare(*previews)
    if as_json:
        common.print_json({"a": a, "b": b, "changes": [asdict(change) for change in changes]})
        return
    if not changes:
        click.echo("They mount the same, and say the same.")
    section = ""
    for change in changes:
        if change.section != section:
            section = change.section
            click.echo(common.style(section, bold=True))
        for place, line in enumerate(paragraph(change.text, indent=4)):
            mark = change.mark if place == 0 else " "
            click.echo(common.style(f"  {mark}{line[3:]}", fg=_COLORS[change.mark]))


Mark = Literal["-", "+", "~"]

_SECTIONS = {"providers": "Providers", "tools": "Tools", "hooks": "Hooks"}
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class BundleChange:
    """One difference.

    Attributes:
        section: What part of the bundles it is in.
        mark: `-` only in the first, `+` only in the second, `~` in both.
        name: What is different.
        before: In the first, as text; empty where it is not there.
        after: In the second.
    """

    section: str
    mark: Mark
    name: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """The difference on one line."""
        if self.mark == "~":
            return f"{self.name}: {self.before} → {self.after}"
        value = self.before or self.after
        return f"{self.name}: {value}" if value else self.name


def compare(first: "BundleDescription", second: "BundleDescription") -> list[BundleChange]:
    """Return the differences, in the order of a mount plan."""
    from amplifier_tui.cli.bundle.show import plain_plan
    from amplifier_tui.ui.state.formats import plural

    a, b = plain_plan(first), plain_plan(second)
    changes = list(_values("Session", a.get("session"), b.get("session")))
    for section, title in _SECTIONS.items():
        changes += _names(title, _by_key(a.get(section)), _by_key(b.get(section)))
    changes += _names("Agents", a.get("agents") or {}, b.get("agents") or {})
    changes += _values("Spawn", a.get("spawn"), b.get("spawn"))
    changes += _names(
        "Context", dict.fromkeys(first.context_files), dict.fromkeys(second.context_files)
    )
    instructions = [
        preview.bundle.instruction or "" if preview.bundle is not None else ""
        for preview in (first, second)
    ]
    if instructions[0] != instructions[1]:
        sizes = [plural(len(text.splitlines()), "line") for text in instructions]
        changes.append(BundleChange("Prompt", "~", "instruction", *sizes))
    if first.base_tokens != second.base_tokens:
        tokens = [f"about {preview.base_tokens}" for preview in (first, second)]
        changes.append(BundleChange("Prompt", "~", "tokens", *tokens))
    return changes


def _by_key(entries: Any) -> dict[str, Any]:
    return {
        str(entry.get("id") or entry.get("module")): entry
        for entry in entries or ()
        if isinstance(entry, Mapping)
    }


def _names(title: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[BundleChange]:
    for name in dict.fromkeys((*a, *b)):
        if name not in b:
            yield BundleChange(title, "-", name)
        elif name not in a:
            yield BundleChange(title, "+", name)
        else:
            yield from _values(title, a[name], b[name], name)


def _values(title: str, a: Any, b: Any, name: str = "") -> Iterator[BundleChange]:
    if a == b:
        return
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys((*a, *b)):
            inner = f"{name}.{key}" if name else str(key)
            yield from _values(title, a.get(key, _ABSENT), b.get(key, _ABSENT), inner)
    elif a is _ABSENT or a is None:
        yield BundleChange(title, "+", name or title.lower(), after=_shown(b))
    elif b is _ABSENT or b is None:
        yield BundleChange(title, "-", name or title.lower(), before=_shown(a))
    else:
        yield BundleChange(title, "~", name or title.lower(), _shown(a), _shown(b))


def _shown(value: Any) -> str:
    return shortened(" ".join(common.as_text(value).split()), 200)
