"""`amplifier-tui completion`: what a shell needs to complete commands, options and names."""

from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class

VARIABLE: Final = "_AMPLIFIER_TUI_COMPLETE"
"""Set by the shell's function while it asks for completions."""
_INSTALL: Final = {
    "bash": 'eval "$(amplifier-tui completion bash)"    # in ~/.bashrc',
    "zsh": 'eval "$(amplifier-tui completion zsh)"     # in ~/.zshrc, after compinit',
    "fish": "amplifier-tui completion fish | source    # in ~/.config/fish/config.fish",
}


@click.command(
    epilog="\b\nPut this where your shell starts:\n" + "\n".join(_INSTALL.values()),
    short_help="Print what makes a shell complete commands and names.",
)
@click.argument("shell", type=click.Choice(list(_INSTALL)))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print the completion of a shell."""
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"There is no completion for {shell}")
    root = context.find_root().command
    click.echo(made(root, {}, "amplifier-tui", VARIABLE).source())
    return 0


def bundle_names(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Return the bundles that can be opened here without the network."""
    from pathlib import Path

    from amplifier_tui.foundation.workspace import Workspace
    from amplifier_tui.paths import shipped_bundles_dir

    try:
        catalog = Workspace.open(Path.cwd(), shipped=(shipped_bundles_dir(),)).catalog()
        names = sorted({entry.name for entry in catalog.entries()})
    except OSError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(begun)]


def session_ids(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Return the sessions of this directory, with what was said first in them."""
    from pathlib import Path

    from amplifier_tui.base.text import one_line
    from amplifier_tui.host.store.listing.listing import list_sessions

    return [
        CompletionItem(card.session_id, help=one_line(card.title or card.first_prompt, 60))
        for card in list_sessions(cwd=Path.cwd(), most=50).cards
        if card.session_id.startswith(begun)
    ]
