"""The keys of the approval dialog and of every fuzzy list: rows of the table of actions."""

from amplifier_tui.ui.keys.action import Action

DIALOG_ACTIONS: tuple[Action, ...] = (
    # --- approval dialog
    Action("approval.deny", "Deny", "Approval", "deny", keys="d", scope="approval", listed=False),
    Action(
        "approval.reason",
        "Deny and say why",
        "Approval",
        "reason",
        keys="f",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.allow", "Allow", "Approval", "allow", keys="a", scope="approval", listed=False
    ),
    Action(
        "approval.scope",
        "Remember",
        "Approval",
        "cycle_scope",
        keys="r",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.why",
        "Why",
        "Approval",
        "why",
        keys="question_mark",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.all",
        "Allow all identical",
        "Approval",
        "allow_all",
        keys="A",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.later",
        "Later",
        "Approval",
        "later",
        keys="escape",
        scope="approval",
        listed=False,
        help="It stays pending; F8 brings it back.",
    ),
    Action(
        "approval.full", "Full height", "Approval", "full", keys="z", scope="approval", listed=False
    ),
    Action(
        "approval.hunk_next",
        "Next hunk",
        "Approval",
        "hunk(1)",
        keys="right_square_bracket",
        scope="approval",
        listed=False,
    ),
    Action(
        "approval.hunk_previous",
        "Previous hunk",
        "Approval",
        "hunk(-1)",
        keys="left_square_bracket",
        scope="approval",
        listed=False,
    ),
    # --- fuzzy lists
    Action(
        "picker.choose", "Choose", "Lists", "choose", keys="enter", scope="picker", listed=False
    ),
    Action("picker.close", "Close", "Lists", "close", keys="escape", scope="picker", listed=False),
    Action("picker.up", "Up", "Lists", "move(-1)", keys="up,ctrl+p", scope="picker", listed=False),
    Action(
        "picker.down", "Down", "Lists", "move(1)", keys="down,ctrl+n", scope="picker", listed=False
    ),
    Action(
        "picker.page_up",
        "Page up",
        "Lists",
        "page(-1)",
        keys="pageup",
        scope="picker",
        listed=False,
    ),
    Action(
        "picker.page_down",
        "Page down",
        "Lists",
        "page(1)",
        keys="pagedown",
        scope="picker",
        listed=False,
    ),
)
