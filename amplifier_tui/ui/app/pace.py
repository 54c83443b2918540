"""How often the screen is drawn, and when Python collects garbage.

Textual paints on the beats of a timer; `TEXTUAL_FPS`, read when it is imported, is their rate.
After a late beat it leaves one out, so that what changes may wait for two: at its 60 a second a
key pressed while an answer streams appeared after 35 ms or more. A beat without news costs
nothing. So there are many, and what streams has a slower beat of its own.

Garbage is collected between things the user sees. `__main__` switches the collector off before the
first import: with Textual's default thresholds a full pass would run many times a second of
streaming.
"""

import gc
import os
from collections.abc import Mapping, MutableMapping
from typing import Final

BEATS: Final = 200
"""A second: what was typed waits 5 to 10 ms."""
STREAM: Final = 1 / 30
"""Seconds between two looks at what the engine has sent."""
SLOW_STREAM: Final = 1 / 15
"""The same where little is to move: over a network each of them may move every row."""
MOTION: Final = "AMPLIFIER_TUI_MOTION"
"""The variable that says `full` or `reduced`; with anything else the line decides."""
THRESHOLDS = (5_000, 5, 1_000)
"""What is drawn lives on, so that a pass over n young objects visits most of them: 5 000 take 2 ms,
the 30 000 of the second generation 10 ms. All passes together take the same time with any numbers.
"""


def set_beats(environ: MutableMapping[str, str], motion: str = "") -> None:
    """Choose the rates; called before Textual is imported. What the user has set stays.

    Args:
        motion: What the user wants where the variable does not say it; see `MOTION`.
    """
    if motion:
        environ.setdefault(MOTION, motion)
    environ.setdefault("TEXTUAL_FPS", str(BEATS))
    if is_reduced(environ):
        environ.setdefault("TEXTUAL_ANIMATIONS", "none")


def stream_period() -> float:
    """Return the seconds between two looks at what has arrived."""
    return SLOW_STREAM if is_reduced(os.environ) else STREAM


def is_reduced(environ: Mapping[str, str]) -> bool:
    """Return whether nothing is to spin, and what streams is to be drawn 15 times a second."""
    wanted = environ.get(MOTION, "").strip().lower()
    return wanted == "reduced" if wanted in ("full", "reduced") else slow_link(environ)


def slow_link(environ: Mapping[str, str]) -> bool:
    """Return whether the screen is drawn over a network, where fewer frames are kinder."""
    return bool(environ.get("SSH_CONNECTION") or environ.get("MOSH_CONNECTION"))


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
