"""When Python collects garbage: between things the user sees, not in the middle of them.

`__main__` switches the collector off before the first import. With Textual's default thresholds
a full pass would run many times a second of streaming.
"""

import gc

THRESHOLDS = (5_000, 5, 1_000)
"""What is drawn lives on, so that a pass over n young objects visits most of them: 5 000 take 2 ms,
the 30 000 of the second generation 10 ms. All passes together take the same time with any numbers.
"""


def settle() -> None:
    """Leave what is there out of later passes, and switch the collector on.

    Without a pass before it: that would hold the screen for 70 ms right when the user begins to
    type, and imports leave next to nothing behind.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()


def turn_ended() -> None:
    """Collect what the turn left behind, while the user reads."""
    gc.collect()
    gc.freeze()


def session_changed() -> None:
    """Collect what the session before held, frozen or not."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
