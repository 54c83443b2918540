"""One file per command; every heavy import is inside the command."""
