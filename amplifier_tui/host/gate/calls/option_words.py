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
