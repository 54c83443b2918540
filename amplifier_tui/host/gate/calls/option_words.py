"""The options among the arguments of a program, whichever it is."""


def option_names(arguments: tuple[str, ...]) -> set[str]:
    """Return the single letters and long names of the options."""
    found: set[str] = set()
    for word in arguments:
        if word.startswith("--"):
            found.add(word[2:].split("=")[0])
        elif word.startswith("-"):
            found.update(word[1:])
    return found


def first_word(arguments: tuple[str, ...]) -> str:
    """Return the first argument that is no option: the subcommand of programs that have some."""
    return next((word for word in arguments if not word.startswith("-")), "")


def looks_like_path(word: str, changes: bool) -> bool:
    """Whether a word that is no option is taken for a path; of what `changes` files all are."""
    if not word or "://" in word or "\n" in word or len(word) > 1_000:
        return False
    if changes:
        return True
    # What begins with a dot may configure programs: `.git`, `.envrc`.
    return word.startswith(("/", "~", ".")) or "/." in word
