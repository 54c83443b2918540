"""One file for each kind of entry: the entry and a scene in, lines out."""
