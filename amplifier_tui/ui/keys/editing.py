"""The prompt's editing keys: readline's where they do not clash with a terminal's own.

They replace TextArea's list, which also claims ctrl+x, f6 and f7.
"""

EDITING: tuple[tuple[str, str], ...] = (
    ("up", "cursor_up"),
    ("down", "cursor_down"),
    ("left", "cursor_left"),
    ("right", "cursor_right"),
    ("ctrl+left", "cursor_word_left"),
    ("ctrl+right", "cursor_word_right"),
    ("home,ctrl+a", "cursor_line_start"),
    ("end,ctrl+e", "cursor_line_end"),
    ("shift+up", "cursor_up(True)"),
    ("shift+down", "cursor_down(True)"),
    ("shift+left", "cursor_left(True)"),
    ("shift+right", "cursor_right(True)"),
    ("ctrl+shift+left", "cursor_word_left(True)"),
    ("ctrl+shift+right", "cursor_word_right(True)"),
    ("shift+home", "cursor_line_start(True)"),
    ("shift+end", "cursor_line_end(True)"),
    ("backspace", "delete_left"),
    ("delete", "delete_right"),
    ("ctrl+w,ctrl+backspace,alt+backspace", "delete_word_left"),
    ("alt+delete", "delete_word_right"),
    ("ctrl+u,super+backspace", "delete_to_start_of_line"),
    ("ctrl+k", "delete_to_end_of_line_or_delete_line"),
    ("ctrl+v", "paste"),
    ("ctrl+z,super+z", "undo"),
    ("ctrl+y,super+y", "redo"),
)
"""Keys, comma separated, and TextArea's action."""

EDITING_KEYS: frozenset[str] = frozenset(key for keys, _ in EDITING for key in keys.split(","))
"""Keys that edit the draft and can be given to nothing else."""
