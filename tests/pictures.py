"""Makes the README's pictures from the program itself: `python -m tests.pictures [FOLDER]`.

The demo runs in it, offline: `approval-…` while its edit waits for a decision, `session-…` when it
is done, in a dark and a light theme. With `--check` nothing is written: it fails where the pictures
that are there have other words than the program has now.
"""

import asyncio
import html
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.ui.app.app import AmplifierApp
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from tests.homes import home_variables

SIZE = (120, 36)
THEMES = {"dark": "ink", "light": "paper"}
PROMPT = "Why does a parcel of exactly 2 kg cost too much? Find the bug and fix it."
SECONDS = 180.0
_FONT = re.compile(r"@font-face \{[^}]*\}\s*")


async def pictures(folder: Path, name: str, theme: str) -> None:
    """Write the two pictures of one theme."""
    client = LocalClient()
    request = OpenRequest(cwd=Path.cwd(), demo=True)
    app = AmplifierApp(lambda: (client, request), cwd=Path.cwd(), theme=theme)
    async with app.run_test(size=SIZE) as pilot, asyncio.timeout(SECONDS):

        async def until(holds: Callable[[], object]) -> None:
            while not holds():
                await pilot.pause(0.05)

        def save(what: str) -> None:
            # Whoever looks at a picture asks nobody for a font.
            text = _FONT.sub("", app.export_screenshot(title="amplifier-tui"))
            (folder / f"{what}-{name}.svg").write_text(text, encoding="utf-8")

        await app.ready.wait()
        await until(lambda: app.state is not None and app.state.facts.opened)
        await pilot.press(*PROMPT, "enter")
        await until(lambda: asked(app))
        await pilot.pause(1)
        save("approval")
        while app.state.activity.running:
            # What is pressed right after typing decides nothing.
            await pilot.pause(2)
            if asked(app):
                await pilot.press("a")
        save("session")
    client.close().result(30)


def asked(app: AmplifierApp) -> bool:
    """Whether a call waits for a decision."""
    return isinstance(app.screen, ApprovalDialog)


async def main(folder: Path) -> None:
    """Write the pictures of all themes into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, theme in THEMES.items():
        await pictures(folder, name, theme)


SLACK: Final = 4
"""Words that a picture may have otherwise: what has scrolled by, what a machine has and lacks."""


def words(picture: str) -> set[str]:
    """Return the words of a picture, but for those that a run may have and the next one not.

    Numbers, places, names of events and what counts with a unit are left out.
    """
    rows = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    found = html.unescape(" ".join(rows)).replace("\xa0", " ").split()
    return {word for word in found if re.fullmatch(r"[A-Za-z]{4,}[.,:]?", word)}


def stale(there: Path, now: Path) -> list[str]:
    """Return what is wrong with the pictures that are there, beside those that were made now."""
    problems: list[str] = []
    for made in sorted(now.glob("*.svg")):
        old = there / made.name
        new = words(made.read_text(encoding="utf-8"))
        kept = words(old.read_text(encoding="utf-8")) if old.is_file() else set[str]()
        if len(new ^ kept) > SLACK:
            lacks, has = (" ".join(sorted(each)) or "-" for each in (new - kept, kept - new))
            problems.append(f"{old} is stale: it lacks {lacks}; it has {has}")
    return problems


if __name__ == "__main__":
    check = sys.argv[1:] == ["--check"]
    target = Path(sys.argv[1] if len(sys.argv) > 1 and not check else ".readme").resolve()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= home_variables(Path(home)) | {"COLORTERM": "truecolor", "TERM": "xterm"}
        os.environ.pop("NO_COLOR", None)
        os.chdir(home)
        asyncio.run(main(Path(home, "pictures") if check else target))
        if problems := stale(target, Path(home, "pictures")) if check else []:
            remedy = "Run `python -m tests.pictures`, look at the pictures and commit them."
            sys.exit("\n".join([*problems, remedy]))
