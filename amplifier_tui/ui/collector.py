"""When Python collects garbage: between things the user sees, not in the middle of them.

`__main__` switches the collector off before the first import. With Textual's default thresholds
a full pass would run many times a second of streaming.
"""

import gc

THRESHOLDS = (50_000, 20, 1_000)


def settle() -> None:
    """Collect once and leave what is alive out of later passes; switch the collector on."""
    gc.collect()
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
