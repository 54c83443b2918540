"""`amplifier-tui rules`: what goes, asks or is denied whatever the mode is."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_tui.cli.bundle.common import json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amplifier_tui.foundation.workspace import Workspace
    from amplifier_tui.host.cards import AuditCard, CallExplanation
    from amplifier_tui.host.events import Mode
    from amplifier_tui.host.gate.modes import Verdict
    from amplifier_tui.host.gate.rules.file import RuleProblem
    from amplifier_tui.host.gate.rules.text import Rule

_SHOWN = 10
_OF_BUNDLES = (
    "What a bundle itself allows or denies is added in its sessions: see /permissions there."
)
_DONE = {"allow": "goes", "ask": "asks", "deny": "is denied"}

_for_project = click.option(
    "--project",
    "for_project",
    is_flag=True,
    help="For this directory only, in the main checkout and all worktrees of a repository. What"
    " denies or asks holds in its subfolders, too.",
)


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def rules(context: click.Context, as_json: bool) -> None:
    """List, add, remove and explain rules such as `bash(npm run test *)` or `write(src/**)`.

    Without a command they are listed.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_rules, as_json=as_json)
    else:
        given = {"as_json": as_json}
        context.default_map = {"list": given, "explain": given, "audit": given}


@rules.command("list", short_help="List the rules that hold here.")
@json_option
def list_rules(as_json: bool) -> None:
    """List the rules that hold in this directory with every bundle, each with where it is."""
    from amplifier_tui.cli.layout import table
    from amplifier_tui.host.gate.rules.file import load_rules, not_counting

    found, problems = load_rules(Path.cwd(), trusted=_trusted())
    if as_json:
        print_json(
            [
                {
                    "rule": str(rule),
                    "in_words": rule.meaning,
                    "verdict": rule.verdict,
                    "scope": rule.scope,
                    "where": rule.where,
                }
                for rule in found
            ]
        )
        _say(problems)
        return
    rows = [(rule.verdict, str(rule), rule.meaning, rule.where) for rule in found]
    for line in (
        table([("RULE", "SPEAKS OF", "IN WORDS", "FROM"), *rows]) if rows else ["There is no rule."]
    ):
        click.echo(line)
    _say(problems)
    for line in (*not_counting(Path.cwd()), _OF_BUNDLES):
        click.echo(line, err=True)


@rules.command(short_help="Add a rule.")
@click.argument("rule")
@click.option("--ask", "verdict", flag_value="ask", help="Ask about these calls.")
@click.option("--deny", "verdict", flag_value="deny", help="Refuse them.")
@_for_project
def add(rule: str, verdict: str | None, for_project: bool) -> None:
    """Let the calls that RULE speaks of go, or ask about them, or refuse them.

    `rules add 'deny bash(git push *)'` does the same as `rules add --deny 'bash(git push *)'`.

    Paths begin in the workspace's top folder, unlike those of .gitignore: `write(*.lock)` is about
    files there, `write(**/*.lock)` about those of every folder.

    `read(secrets/**)` and `write(...)` that deny or ask hold for what commands name, too, such as
    `cat secrets/plan.txt`. They are no wall against what a program opens by itself.
    """
    from amplifier_tui.host.gate.modes import VERDICTS
    from amplifier_tui.host.gate.rules.file import (
        RulesFileError,
        add_rules,
        kept_for,
        user_rules_path,
    )
    from amplifier_tui.host.gate.rules.text import RuleError, parse_rule, read_rule_line

    known: Verdict | None = next((each for each in VERDICTS if each == verdict), None)
    try:
        parsed = parse_rule(rule, known) if known else read_rule_line(rule)
        add_rules(user_rules_path(), (parsed,), Path.cwd() if for_project else None)
    except RuleError as error:
        raise click.ClickException(f"{rule!r}, column {error.column}: {error}") from error
    except (OSError, RulesFileError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{parsed.verdict} {parsed}")
    if not for_project:
        click.echo("It holds in every project.")
    elif where := kept_for(Path.cwd()):
        click.echo(f"Kept {where}.")
    else:
        click.echo(f"It holds in {Path.cwd()}.")
    if why := parsed.doubt(typed=True):
        click.echo(f"Warning: {why}. The rule is kept as it is.", err=True)
    if why := parsed.covers_nothing:
        click.echo(f"Warning: it covers no command: {why}. The rule is kept as it is.", err=True)
    if why := parsed.matches_nothing:
        click.echo(f"Warning: it is about no file: {why}. The rule is kept as it is.", err=True)
    elif wide := parsed.in_every_folder:
        click.echo(f"It is about the top folder alone; {wide} is about every folder.", err=True)
    if why := _only_a_yes(parsed):
        click.echo(f"In this folder it is asked about all the same: {why}.", err=True)


@rules.command(short_help="Remove a rule.")
@click.argument("rule")
@_for_project
def remove(rule: str, for_project: bool) -> None:
    """Take RULE, as `rules list` shows it, out of the user's rules.

    `rules remove 'deny bash(git push *)'` takes it out of those that deny only.
    """
    from amplifier_tui.host.gate.modes import VERDICTS
    from amplifier_tui.host.gate.rules.file import RulesFileError, remove_rule, user_rules_path

    first, _, rest = rule.strip().partition(" ")
    verdict: Verdict | None = next((each for each in VERDICTS if rest and each == first), None)
    text, part = (rest.strip() if verdict else rule), Path.cwd() if for_project else None
    try:
        there = remove_rule(user_rules_path(), text, part, verdict)
    except (OSError, RulesFileError) as error:
        raise click.ClickException(str(error)) from error
    if not there:
        where = "for this directory" if for_project else "for every directory"
        raise click.ClickException(f"{rule} is no rule of yours {where}; see `rules list`")
    click.echo(f"removed {rule}")


@rules.command(short_help="Say what happens to a call, and why.")
@click.argument("tool")
@click.argument("arguments", nargs=-1)
@click.option(
    "--mode",
    help="The mode: plan, ask, edits, or auto, which only /mode chooses (default: your settings').",
)
@json_option
def explain(tool: str, arguments: tuple[str, ...], mode: str | None, as_json: bool) -> None:
    """Say what happens to a call of TOOL, by which rule, and what that did in the last 30 days.

    ARGUMENTS are JSON, or the command, the file or the address that the call is about. Without them
    TOOL is the whole call, such as 'bash(git push)', 'write_file a.txt' or 'git push', a command,
    or the name of a module's tool, such as mcp__github__get_issue.
    """
    from amplifier_tui.base.commands.sandbox import sandbox_problem
    from amplifier_tui.base.tool_names import COMMAND_TOOLS
    from amplifier_tui.foundation.workspace import Workspace
    from amplifier_tui.host.gate import explain as explaining
    from amplifier_tui.host.gate.audit import read_audit
    from amplifier_tui.host.gate.gate import Gate
    from amplifier_tui.host.gate.modes import MODES, read_mode
    from amplifier_tui.host.gate.rules.book import RuleBook
    from amplifier_tui.host.gate.rules.file import load_rules, not_counting
    from amplifier_tui.host.session.gating import sandbox_terms

    here = Path.cwd().resolve()
    workspace = Workspace.open(here)
    known = read_mode(mode) if mode else _first_mode(workspace)
    if known is None:
        raise click.BadParameter(f"modes are {', '.join(MODES)}", param_hint="--mode")
    try:
        if arguments:
            given = explaining.given_arguments(tool, " ".join(arguments))
        else:
            tool, given = explaining.read_call(tool)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="ARGUMENTS") from error
    held, problems = load_rules(here, trusted=_trusted())
    unread = next((str(problem) for problem in problems if problem.restricts), "")
    terms, _ = sandbox_terms(workspace)
    # As in a session of a bundle whose tool for commands is the program's own.
    sandbox = sandbox_problem if terms.mode != "off" else lambda: "it is switched off"
    gate = Gate(here, lambda: RuleBook(held), known, unread=unread, sandbox=sandbox)
    found = explaining.explain(gate, tool, given, read_audit(here), COMMAND_TOOLS.__contains__)
    if as_json:
        print_json(asdict(found))
    else:
        _print(found)
        if found.verdict != "deny":
            for line in (*not_counting(here), _OF_BUNDLES):
                click.echo(line, err=True)
    _say(problems)


@rules.command(short_help="List what was decided, newest first.")
@click.argument("words", nargs=-1)
@click.option("--limit", default=50, show_default=True, help="How many decisions at most.")
@json_option
def audit(words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """List the decisions about calls here in the last 30 days, the newest first.

    With WORDS only those that have them all, such as `bash denied`.
    """
    from amplifier_tui.cli.layout import table
    from amplifier_tui.host.gate.audit import read_audit

    found = [card for card in read_audit(Path.cwd().resolve()) if _speaks(card, words)][:limit]
    if as_json:
        print_json([asdict(card) for card in found])
        return
    heads = ("WHEN", "OUTCOME", "BY", "TOOL", "ABOUT")
    lines = table([heads, *map(_row, found)]) if found else ["Nothing was decided here."]
    for line in lines:
        click.echo(line)


def _speaks(card: AuditCard, words: Iterable[str]) -> bool:
    """Whether every word is in what is printed of a decision, or in the texts of its call."""
    texts = [text for text in card.arguments.values() if isinstance(text, str)]
    said = " ".join((*_row(card), *texts)).casefold()
    return all(word.casefold() in said for word in words)


def _row(card: AuditCard) -> tuple[str, ...]:
    when = datetime.fromtimestamp(card.at).strftime("%Y-%m-%d %H:%M:%S")
    about = _about(card) or card.prompt
    return when, card.outcome, _by(card), card.tool, about


def _by(card: AuditCard) -> str:
    """Return what decided, and which one of them: `mode auto`, `hook hooks-approval`."""
    names = {"rule": card.rule, "mode": card.mode, "hook": card.asker}
    return f"{card.by} {names.get(card.by, '')}".rstrip()


def _only_a_yes(rule: Rule) -> str:
    """Return why a rule does not let its commands go in this folder, whatever they are about."""
    from amplifier_tui.base.commands.sandbox import sandbox_problem
    from amplifier_tui.base.tool_names import COMMAND_TOOLS
    from amplifier_tui.host.gate.gate import Gate
    from amplifier_tui.host.gate.rules.book import RuleBook
    from amplifier_tui.host.gate.verdicts.lent.of_workspace import ONLY_A_YES

    if rule.verdict != "allow" or rule.tool not in COMMAND_TOOLS:
        return ""
    line = {"command": rule.inside.replace("*", "x")}
    gate = Gate(Path.cwd().resolve(), lambda: RuleBook([rule]), "ask", sandbox=sandbox_problem)
    decision = gate.decide(rule.tool, line, confines=True)
    return decision.reason if decision.reason.endswith(ONLY_A_YES) else ""


def _print(found: CallExplanation) -> None:
    from amplifier_tui.base.text import one_line
    from amplifier_tui.cli.layout import table
    from amplifier_tui.host.gate.audit import DAYS
    from amplifier_tui.ui.state.formats import plural

    click.echo(f"It {_DONE[found.verdict]}: {one_line(found.reason, 300).rstrip('.')}.")
    if found.near:
        click.echo(f"{one_line(found.near[:1].upper() + found.near[1:], 400)}.")
    if found.where:
        click.echo(f"The rule is in {one_line(found.where, 300)}.")
    click.echo(f"Tool: {one_line(found.tool, 60)}.")
    words = ", ".join(found.reasons)
    click.echo(f"Risk: {found.risk}{f' ({one_line(words, 300)})' if words else ''}.")
    what = f"that the rule {found.rule} decides" if found.rule else f"of {one_line(found.tool, 60)}"
    count = plural(len(found.past), "call") if found.past else "No call"
    end = ":" if found.past else "."
    click.echo(f"\n{count} here in the last {DAYS} days {what}{end}")
    rows = [
        (
            *(call.card.outcome, f"by {_by(call.card)}", f"now {_DONE[call.verdict]}"),
            _about(call.card),
        )
        for call in found.past[:_SHOWN]
    ]
    for line in table(rows, indent=2):
        click.echo(line)


def _about(card: AuditCard) -> str:
    from amplifier_tui.ui.transcript.entries.tool_words import object_of

    return object_of(card.tool, card.arguments)


def _say(problems: Iterable[RuleProblem]) -> None:
    from amplifier_tui.base.text import one_line

    for problem in problems:
        # It quotes what the project's file says.
        click.echo(f"! {one_line(problem.told, 600)}", err=True)


def _first_mode(workspace: Workspace) -> Mode:
    """Return the mode in which a session begins here, as the settings say.

    What a project says counts where it lets nothing more through: whether it is trusted is asked
    when a session opens.
    """
    from amplifier_tui.foundation.settings.settings import Scope
    from amplifier_tui.host.gate.modes import read_mode

    whole = read_mode(workspace.settings.get("mode"))
    own = read_mode(workspace.settings.by_scope.get(Scope.GLOBAL, {}).get("mode"))
    return whole if whole in ("plan", "ask") else own or "ask"


def _trusted() -> list[str]:
    """Return the project's own rules that the user let count."""
    from amplifier_tui.host.trust.answers import TrustFile
    from amplifier_tui.host.trust.rules import allow_rules

    here, file = Path.cwd().resolve(), TrustFile()
    own = any(folder.resolve() == here for folder in file.folders)
    return [text for item, text in allow_rules(here).items() if own or file.answer(item.key)]
