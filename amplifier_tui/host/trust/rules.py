"""The rules of a project that allow calls: they count as far as the user says so."""

from pathlib import Path

from amplifier_tui.foundation.trust.items import TrustItem, make_item


def allow_rules(project: Path) -> dict[TrustItem, str]:
    """Return an item for each rule of a project that allows calls, with the rule's text."""
    if not (project / ".amplifier" / "rules.yaml").exists():
        # What reads rules takes longer to import than a session to open.
        return {}
    from amplifier_tui.host.gate.rules.file import project_rules_path, read_rules

    path = project_rules_path(project)
    rules, _ = read_rules(path, None)
    return {
        make_item(
            "power",
            f"rule that allows {rule}",
            subject=(str(path), str(rule)),
            content=str(rule),
            owner=str(project),
            detail=f"allow: {rule}",
            where=rule.origin,
        ): str(rule)
        for rule in rules
        if rule.verdict == "allow"
    }
