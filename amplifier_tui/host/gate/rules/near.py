"""A rule that nearly covers a call: why it does not, and which one would."""

from amplifier_tui.base.shell import options_missing, programs_of
from amplifier_tui.host.gate.risk import severity
from amplifier_tui.host.gate.rules.addresses import names_address
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.matching import Part, covers, is_guarded, names_path, names_tool
from amplifier_tui.host.gate.rules.text import Rule, RuleError, parse_rule
from amplifier_tui.host.gate.rules.words import rule_begin, starred_rule


def nearly(parts: tuple[Part, ...], book: RuleBook) -> str:
    """Say of the first part that no rule covers which one nearly does; empty where none does."""
    for part in parts:
        if part.reads or book.rule_for(part, planned=True) is not None:
            continue
        if part.command is None:
            if why := _of_file(part, book):
                return why
            continue
        words = part.command.words
        near = [
            (begin, rule)
            for rule in book.rules
            if rule.verdict == "allow" and rule.inside and names_tool(rule, part.tool)
            if (begin := rule_begin(rule.inside)[0]) and words[: len(begin)] == begin
        ]
        if near:
            begin, rule = max(near, key=lambda found: len(found[0]))
            return _why(rule, begin, part, "it" if len(parts) == 1 else "that part of the line")
    return ""


def _of_file(part: Part, book: RuleBook) -> str:
    """Say which rule is about the top folder alone, or names a file that no pattern covers."""
    for rule in book.rules:
        wide = rule.in_every_folder if rule.verdict == "allow" else ""
        if wide and covers(parse_rule(wide), part):
            return f"the rule {rule} is about the top folder alone; {wide} would cover it"
        named = rule.verdict == "allow" and rule.inside and names_tool(rule, part.tool)
        if named and part.place is not None and names_path(rule, part.place) and is_guarded(part):
            exact = _covering(rule, str(part.place.path), part)
            more = f"; {exact} would cover it" if exact else ""
            return f"the rule {rule} does not cover what configures programs, and keys{more}"
    return ""


def _why(rule: Rule, begin: tuple[str, ...], part: Part, what: str) -> str:
    if why := rule.covers_nothing:
        return f"the rule {rule} covers no command: {why}"
    words = part.command.words if part.command is not None else ()
    asked = rule_begin(rule.inside)[1]
    behind = words[len(begin) :]
    options = tuple(dict.fromkeys(w for w in behind if w.startswith("-") and w not in asked))
    missing = options_missing(asked, behind)
    wider = None
    if options or missing:
        wider = _covering(rule, starred_rule(words, len(begin)), part)
    exact = _covering(rule, part.text, part)
    if not rule.inside.endswith(" *"):
        why, better = "is that command and no other", exact
    elif wider is not None:
        named = " ".join(options or missing)
        why, better = f"does not cover {named}", wider
        if not options:
            why = f"covers only what has {named}"
            if set(missing) <= set(behind):
                why += ", and not where that may be a value or an operand"
    elif severity(part.judgement.risk) > severity(rule.ceiling):
        why, better = f"does not cover what is of {part.judgement.risk} risk", exact
    elif is_guarded(part):
        why, better = "does not cover what configures programs, and keys", exact
    elif part.command and any(names_address(run, begin) for run in programs_of(part.command)):
        why, better = "covers no address that it does not name", exact
    else:
        why = "covers further operands in the workspace, and not all that is in this command"
        better = exact
    return f"the rule {rule} {why}" + (f"; {better} would cover {what}" if better else "")


def _covering(rule: Rule, inside: str, part: Part) -> Rule | None:
    """Return the rule of a text, as it is read where it is written down, if it covers a part."""
    text = f"{rule.tool}({inside})"
    try:
        found = parse_rule(text)
    except RuleError:
        return None
    return found if "\n" not in text and covers(found, part) else None
