"""How it is said what a program does."""

from typing import Final

from amplifier_tui.host.events import Risk

Verdict = tuple[Risk, tuple[str, ...]]
"""A risk and the reasons for it, each a few words such as `deletes files`."""

ONLY_READS: Final = "only reads"
READS: Final[Verdict] = ("low", (ONLY_READS,))
DELETES: Final = "deletes files"
LOSES: Final = "throws changes away"
NETWORK: Final = "network"
INSTALLS: Final = "installs software"
REMOTE: Final = "changes things outside this machine"
ELSEWHERE: Final = "changes another repository on this machine"
SECRETS: Final = "touches keys or passwords"
MAY_TELL: Final = "reads settings that may hold keys or passwords"
"""Of settings outside of the workspace, which are asked about as keys are."""


def by_name(rows: tuple[tuple[Risk, str, str], ...]) -> dict[str, tuple[Risk, str]]:
    """Return the risk and the reason of each name in rows of risk, reason and names."""
    return {name: (risk, reason) for risk, reason, names in rows for name in names.split()}
