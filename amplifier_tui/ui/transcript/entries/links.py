"""The links of our own in errors and in the welcome: what a click on them does.

Only entries of those two kinds have them: a link with such an address in the words of a model is
an address like any other.
"""

from typing import Final

RETRY: Final = "retry:"
WITHOUT: Final = "without:"
ACTIONS: Final = {
    "demo:": "session.demo",
    "bundles:": "session.bundles",
    "new:": "session.new",
    "compact:": "context.compact",
}
"""The action (`ui/keys/actions.py`) behind each of the others."""
OWN: Final = frozenset((RETRY, WITHOUT, *ACTIONS))
