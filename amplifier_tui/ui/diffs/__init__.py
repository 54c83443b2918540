"""Changes of files as diffs: read, laid out, coloured, searched."""
