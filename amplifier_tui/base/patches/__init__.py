"""The patch format of `apply_patch`, which models are trained on: reading it and applying it.

A patch names several files, finds its places by the lines around them instead of line numbers, and
looks like this::

    *** Begin Patch
    *** Update File: src/app.py
    *** Move to: src/main.py
    @@ def main():
     def main():
    -    print("hi")
    +    print("hello")
    *** Add File: notes.txt
    +first line
    *** Delete File: old.txt
    *** End Patch

Whoever judges a patch and whoever applies it read it here, so that no file is changed that was not
seen when it was judged.
"""

from amplifier_tui.base.patches.applying import apply_hunks
from amplifier_tui.base.patches.reading import (
    FileChange,
    Hunk,
    PatchProblem,
    patched_paths,
    read_patch,
)

__all__ = ["FileChange", "Hunk", "PatchProblem", "apply_hunks", "patched_paths", "read_patch"]
