"""Secrets in a text that comes in pieces, or is cut."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from amplifier_tui.base.secrets.shapes import EDGE, KEY_ENDS, LONGEST_PRIVATE_KEY, find_secrets


def _begun(literal: str) -> str:
    """A pattern for the first characters of a literal, or for all of it and what follows."""
    pattern = r"[A-Za-z0-9_.+/=~-]*+"
    for character in reversed(literal):
        pattern = f"{re.escape(character)}(?:{pattern})?"
    return pattern


_LONGEST_HELD: Final = 2_000
_LONGEST_NAMED: Final = 200
_BEGUN_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9 ]*+-{0,4}\Z|[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)"
)
# Bearer and Basic tokens, and what is a key by the name before it.
_AFTER_SPACE: Final = (
    r"(?i)(?:\b(?:bearer|basic)\s{1,9}\S*+"
    r"|ass(?:word|wd|phrase)\\?[\"']?\s{0,9}(?::\s{0,9}\\?[\"']?[^\s\"']{0,200}\\?)?"
    r"|secret_?access_?key[\"']?\s{0,9}(?:[:=]\s{0,9}[\"']?[^\s\"']*+)?)\Z"
)
_BEGUN: Final = (
    f"{EDGE}(?:"
    + "|".join(
        _begun(literal)
        for literal in (
            *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "AKIA", "ASIA", "AIza"),
            *("xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "glpat-", "npm_"),
            *("pypi-", "hf_", "sk_live_", "rk_live_", "SK", "SG.", "dop_v1_", "doo_v1_", "dor_v1_"),
            *(
                "gsk_",
                "xai-",
                "dapi",
                "hvs.",
                "hvb.",
                "hvr.",
                "whsec_",
                "lin_api_",
                "ntn_",
                "figd_",
            ),
            *("pplx-", "sntrys_", "ATATT3", "dp.pt.", "tskey-auth-", "tskey-api-", "GOCSPX-"),
            *("ya29.", "shpat_", "shpca_", "shppa_", "shpss_", "sbp_", "PMAK-", "NRAK-", "r8_"),
            *("AGE-SECRET-KEY-1", "_authToken="),
            *("AccountKey", "SharedAccessKey", "eyJ", "Bearer", "bearer", "Basic", "basic"),
            *("password", "Password", "PASSWORD", "passwd", "passphrase"),
            *("aws_secret_access_key", "SecretAccessKey", "AWS_SECRET_ACCESS_KEY"),
        )
    )
    + r"|[MNO](?:[DTjz][\w-]{0,25}(?:\.[\w-]{0,6}(?:\.[\w-]{0,38})?)?)?"  # Discord
    rf")\Z|{_begun('/services/T')}\Z|{_begun('/api/webhooks/')}\Z"
    r"|(?<![\w-])-{1,4}(?:-(?:B(?:E(?:G(?:IN?)?)?)?)?)?\Z"
    r"|(?<!\d)\d{1,10}(?::(?:A(?:A[\w-]*+)?)?)?\Z"  # Telegram
    r"|8(?:Q(?:~[\w~.-]*+)?)?\Z"
    r"|:(?:/(?:/[^\s/:@'\"]{0,100}(?::[^\s/:@'\"]{0,200})?)?)?\Z"
)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    # Not when imported: they take 3 ms, and nothing streams while a session opens.
    return re.compile(_AFTER_SPACE), re.compile(_BEGUN)


def unfinished(text: str, values: Iterable[str] = ()) -> int:
    """Return how many characters at the end of a text may be the beginning of a secret.

    For streams: what a text ends with is held back until it is clear what it is, so that no key
    is shown in two halves.

    Args:
        values: Secrets that are known.
    """
    return max((_begun_by_shape(text), *(_begun_value(text, value) for value in values)))


def _begun_by_shape(text: str) -> int:
    begin = text.rfind("-----BEGIN ", -LONGEST_PRIVATE_KEY)
    if begin >= 0 and _BEGUN_PRIVATE_KEY.match(text, begin) and not KEY_ENDS.search(text, begin):
        return len(text) - begin
    tail = text[-_LONGEST_HELD:]
    after_space, begun = _patterns()
    match = after_space.search(tail[-_LONGEST_NAMED:])
    if match is not None:
        return len(match.group())
    match = begun.search(tail, max(tail.rfind(space) for space in " \n\t") + 1)
    return 0 if match is None else len(match.group())


def _begun_value(text: str, value: str) -> int:
    tail = text[-len(value) :]
    at = tail.find(value[0])
    while at >= 0:
        begun = len(tail) - at
        if begun < len(value) and value.startswith(tail[at:]):
            # The last letters of a word are no secret's first ones: show them.
            return 0 if begun <= 2 and tail[at - 1 : at].isalnum() else begun
        at = tail.find(value[0], at + 1)
    return 0


def cut_before(text: str, at: int, values: Iterable[str] = ()) -> int:
    """Return where to cut a text instead of within a secret, whose beginning nobody would know.

    Args:
        at: Where it was to be cut; it is cut there or before.
        values: Secrets that are known.
    """
    for start, end in sorted(_around(text, at, values), reverse=True):
        if start < at < end:
            at = start
    return at


def cut_after(text: str, at: int, values: Iterable[str] = ()) -> int:
    """Return where a text may begin instead of within a secret: there or after."""
    for start, end in sorted(_around(text, at, values)):
        if start < at < end:
            at = end
    ended = KEY_ENDS.search(text, at)
    # What stands before the end of a private key is the key, wherever it begins.
    if ended is not None and text.find("-----BEGIN ", at, ended.start()) < 0:
        near = ended.start() - at <= LONGEST_PRIVATE_KEY
        at = ended.end() if near else at
    return at


def _around(text: str, at: int, values: Iterable[str]) -> Iterator[tuple[int, int]]:
    yield from ((start, end) for start, end, _ in find_secrets(text))
    for value in values:
        start = text.find(value, max(0, at - len(value) + 1), at + len(value) - 1)
        if start >= 0:
            yield start, start + len(value)
