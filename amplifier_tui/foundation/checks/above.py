"""What a repository has in its top folder for agents, of which a session below knows nothing."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.base.homes import user_home
from amplifier_tui.foundation.report import ReportItem

_FOR_AGENTS: Final = ("AGENTS.md", "CLAUDE.md", ".amplifier")


def report_above(working_dir: Path) -> Iterator[ReportItem]:
    """Yield what does not count in a session that works below the top folder of a repository.

    A project is the folder in which a session works. Blocking.

    Args:
        working_dir: Absolute.
    """
    home = user_home()
    for folder in (working_dir, *working_dir.parents):
        if folder == home:
            # Dotfiles in a repository are nobody's project.
            return
        if os.path.exists(folder / ".git"):
            found = [name for name in _FOR_AGENTS if os.path.exists(folder / name)]
            if folder != working_dir and found:
                yield ReportItem(
                    what=" and ".join(found),
                    kind="skipped",
                    part="context",
                    why=f"the repository has it in {folder}, and the session works below",
                    remedy=f"Start in {folder} to have it count.",
                )
            return
