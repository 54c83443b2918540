"""The items of the next request, as the context that makes it tells its host and the user."""

from typing import Final, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import shortened

ItemState = Literal["whole", "pinned", "dropped", "shortened", "compacted", "summary"]

_NAME: Final = 50


@dataclass(frozen=True, slots=True)
class ItemCard:
    """One item of the next request; numbers are estimates of tokens.

    Attributes:
        key: Its handle for `SessionClient.choose_item`; empty where nothing can be decided.
        source: Who put it there.
        text: How it begins.
        tokens: What it takes now.
        whole: What it takes whole, with the results that go with it.
        state: What became of it.
        call_id: The tool call it is, or is the result of; may be empty.
        turn: The number of its turn; 0 for none.
        fixed: Why nothing can be decided about it; empty where something can.
    """

    key: str
    source: str
    text: str = ""
    tokens: int = 0
    whole: int = 0
    state: ItemState = "whole"
    role: str = ""
    call_id: str = ""
    turn: int = 0
    fixed: str = ""

    @property
    def name(self) -> str:
        """What it is called in a sentence: its source and how it begins."""
        words = shortened(self.text, _NAME)
        return f"{self.source}: {words}" if words and words != self.source else self.source
