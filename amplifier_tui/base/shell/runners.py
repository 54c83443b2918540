"""Programs that run another one by a word of theirs: `uv run pytest` runs `pytest`."""

from pathlib import PurePosixPath
from typing import Final

_ROWS: Final = (
    "uv run|pipenv run|poetry run|pdm run|hatch run|rye run|conda run|mamba run|micromamba run"
    "|npm exec|npm x|pnpm exec|pnpm dlx|yarn exec|yarn dlx|bun x|bundle exec|mise exec|mise x"
    "|git bisect run|git submodule foreach"
)
RUNNERS: Final = frozenset(_ROWS.split("|"))
"""What runs the words behind it, as it is written."""
_LONGEST: Final = 3
_TAKES_VALUE: Final = {
    "uv": "--with --with-requirements --with-editable --python -p --group --only-group --no-group"
    " --extra --no-extra --project --directory --env-file --package --index --default-index"
    " --index-url -i --extra-index-url --cache-dir --config-file --color --link-mode",
    "conda": "-n --name -p --prefix --cwd",
    "npm": "-w --workspace --package -p",
    "pnpm": "--package -C --dir --filter",
    "mise": "-C --cd -E --env",
    "poetry": "-C --directory -P --project",
}
"""Options behind them that take the next word."""


def runner_length(words: tuple[str, ...]) -> int:
    """Return how many words run what stands behind them; 0 where none do."""
    if not words:
        return 0
    name = PurePosixPath(words[0]).name
    lengths = range(2, min(_LONGEST, len(words)) + 1)
    return next((n for n in lengths if " ".join((name, *words[1:n])) in RUNNERS), 0)


def run_from(words: tuple[str, ...], start: int) -> int:
    """Return where the program begins that a runner of `start` words runs; options are passed."""
    takes_value = _TAKES_VALUE.get(PurePosixPath(words[0]).name, "").split()
    at = start
    while at < len(words) and words[at].startswith("-"):
        at += 1
        if words[at - 1] == "--":
            break
        at += words[at - 1] in takes_value
    return at
