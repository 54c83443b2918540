"""The trust question on the command line."""

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from amplifier_tui.foundation.trust.gate import TrustCallback, TrustRequest

_WORDS = {
    "fetch": "Fetch",
    "install": "Install packages for",
    "execute": "Run the code of",
    "connect": "Send your key with",
}


def trust_callback(everything: bool) -> "TrustCallback":
    """Return who answers: `--trust`, an answer of before, or the person at the terminal.

    Args:
        everything: Whether `--trust` was given.
    """
    from amplifier_tui.foundation.trust.gate import shipped_only, trust_everything
    from amplifier_tui.host.trust.sources import TrustBook
    from amplifier_tui.paths import shipped_bundles_dir

    if everything:
        return trust_everything
    shipped, book = shipped_only((shipped_bundles_dir(),)), TrustBook()

    def decide(request: "TrustRequest") -> bool:
        if shipped(request) or book.knows(request):
            return True
        if not _somebody_is_there() or not _ask(request):
            return False
        book.add(request)
        return True

    return decide


def _somebody_is_there() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(request: "TrustRequest") -> bool:
    from amplifier_tui.base.text import one_line, reveal

    def shown(text: str) -> str:
        # What is decided on is shown as it is, invisible characters too.
        return one_line(reveal(text), 500)

    click.echo(f"{_WORDS[request.action]} {shown(request.subject or request.uri)}?", err=True)
    source = "" if request.subject in ("", request.uri) else request.uri
    facts = [("from", source), ("commit", request.commit)]
    facts += [("asked for by", " → ".join(request.included_by)), ("that is", request.detail)]
    facts += [("in", "" if request.path is None else str(request.path))]
    for label, text in facts:
        if text:
            click.echo(f"  {label} {shown(text)}", err=True)
    return click.confirm("It does not come with this program. Allow it?", default=False, err=True)
