"""The columns beside the conversation, in which the panes are."""

from textual.containers import Vertical


class Rail(Vertical):
    """Shows the panes that are displayed in it; without any it takes no room.

    With `-drawer` it covers the conversation, which keeps its width, instead of standing beside it.
    With `-for-events` the other panes leave rows to the events, which take what is left.
    """

    SCOPED_CSS = False
    DEFAULT_CSS = """
    Rail {
        display: none;
        width: 34;
        height: 100%;
        background: $surface;
        padding: 1 0 0 0;
        &.-shown { display: block; }
        & > * { margin-bottom: 1; }
        & > ContextPane { max-height: 12; }
        & > ModulesPane { max-height: 40%; }
        & > EventLogPane { height: 1fr; min-height: 3; margin-bottom: 0; }
    }
    Rail.-for-events > ContextPane, Rail.-for-events > ModulesPane { max-height: 25%; }
    MainScreen.-roomy Rail { width: 40; }
    MainScreen.-wide Rail { width: 46; }
    MainScreen.-wide Rail#own { width: 34; padding: 1 1 0 0; }
    Rail#own > ModulesPane { max-height: 100%; }

    MainScreen Rail.-drawer, MainScreen.-wide Rail#own.-drawer {
        display: block;
        layer: drawer;
        dock: left;
        width: 100%;
        max-width: 100%;
        padding: 1 0 0 1;
        & > * { height: 1fr; max-height: 100%; margin-bottom: 0; }
    }
    """
