"""The one table of published key formats and of assignments of secrets.

Any text takes linear time. A shape is looked for by a literal part of it (`str.find`) and its
pattern is tried there alone; patterns are possessive or bounded, so a try costs no more than what
it reads, and other threads run between two tries.
"""

import base64
import binascii
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.lazy.pattern import lazy_pattern

SECRETS: Final = "secrets"
ASSIGNMENTS: Final = "assignments"
PII: Final = "pii"
RULES: Final = (SECRETS, ASSIGNMENTS, PII)

Finding = tuple[int, int, str]
"""Where a secret begins and ends in a text, and its kind: `api-key`, `token`, `password`,
`private-key`, `value`, `e-mail` or `phone`. A plain tuple, which the garbage collector need not
visit: a text may hold a hundred thousand."""


@dataclass(frozen=True)
class _Shape:
    """One published format.

    Attributes:
        kind: See `Finding`.
        anchors: Literal texts, one of which is in every secret of this shape.
        pattern: Tried where an anchor was found. Its first group, where it has one, is the secret.
        back: How many characters before the anchor the pattern begins.
        check: What the pattern can't say.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    back: int = 0
    check: Callable[[re.Match[str]], bool] | None = None


_DIGIT: Final = lazy_pattern("[0-9]")


def _has_digit(match: re.Match[str]) -> bool:
    return _DIGIT.search(match.group()) is not None


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return b""


def _is_login(match: re.Match[str]) -> bool:
    """Whether Base64 text says `user:password`; otherwise it is a word after "Basic"."""
    text = match.group(1).translate({ord("+"): "-", ord("/"): "_"})
    name, colon, _ = _decoded(text.rstrip("=")[:4096]).partition(b":")
    return bool(colon) and name.isascii() and name.decode("ascii").isprintable()


def _follows_an_id(match: re.Match[str]) -> bool:
    """Whether a Discord token's first part, a number in Base64, stands before the match."""
    before = match.string[max(0, match.start() - 26) : match.start()]
    return any(len(before) >= size and _decoded(before[-size:]).isdigit() for size in range(23, 27))


# Not inside a word. In JSON text `\n` and its like stand before a word without being one of its
# letters.
EDGE: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u00[01][0-9a-f]))"


def _key(*anchors: str, rest: str, check: Callable[[re.Match[str]], bool] | None = None) -> _Shape:
    alternatives = "|".join(re.escape(anchor) for anchor in anchors)
    pattern = lazy_pattern(rf"{EDGE}(?:{alternatives}){rest}", re.ASCII)
    return _Shape("api-key", anchors, pattern, check=check)


_URLSAFE = "[A-Za-z0-9_-]"
_SHAPES: Final = (
    _key("sk-", rest=rf"{_URLSAFE}{{20,}}+", check=_has_digit),
    _key("gh", rest="[pousr]_[A-Za-z0-9]{30,}+"),
    _key("github_pat_", rest="[A-Za-z0-9_]{30,}+"),
    _key("AKIA", "ASIA", rest="[0-9A-Z]{16}"),
    _key("AIza", rest=rf"{_URLSAFE}{{35}}"),
    _key("xox", rest="[abeprs]-[A-Za-z0-9-]{10,}+"),
    _key("xapp-", rest="[A-Za-z0-9-]{10,}+"),
    _key("glpat-", rest=rf"{_URLSAFE}{{20,}}+"),
    _key("npm_", rest="[A-Za-z0-9]{36}"),
    _key("pypi-", rest=rf"{_URLSAFE}{{50,}}+"),
    _key("hf_", rest="[A-Za-z0-9]{30,}+"),
    _key("sk_live_", "rk_live_", rest="[A-Za-z0-9]{20,}+"),
    _key("SK", rest="[0-9a-f]{32}(?![A-Za-z0-9])"),  # Twilio
    _key("SG.", rest=rf"{_URLSAFE}{{16,32}}+\.{_URLSAFE}{{32,64}}+"),  # SendGrid
    _key("do", rest="[opr]_v1_[a-f0-9]{64}"),  # DigitalOcean
    _key("gsk_", rest="[A-Za-z0-9]{40,}+"),  # Groq
    _key("xai-", rest="[A-Za-z0-9]{40,}+"),
    _key("dapi", rest="[a-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])"),  # Databricks
    _key("hv", rest=rf"[sbr]\.{_URLSAFE}{{24,}}+"),  # Vault
    _key(  # Stripe's web hooks and the other makers that the prefixes name
        *("whsec_", "lin_api_", "ntn_", "figd_", "pplx-", "sntrys_", "ATATT3", "dp.pt."),
        *("tskey-auth-", "tskey-api-", "GOCSPX-", "ya29."),
        rest=rf"{_URLSAFE}{{24,}}+",
        check=_has_digit,
    ),
    _key("shp", rest="(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),  # Shopify
    _key("sbp_", rest="[a-f0-9]{40}"),  # Supabase
    _key("PMAK-", rest="[a-f0-9]{24}-[a-f0-9]{34}"),  # Postman
    _key("NRAK-", rest="[A-Z0-9]{27}"),  # New Relic
    _key("r8_", rest="[A-Za-z0-9]{37,}+"),  # Replicate
    _key("AGE-SECRET-KEY-1", rest="[A-Z0-9]{50,}+"),
    _Shape(
        "api-key",
        ("/services/T",),
        lazy_pattern(r"/services/(T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,}+)"),
    ),
    _Shape(
        "api-key",
        ("/api/webhooks/",),
        lazy_pattern(rf"/api/webhooks/[0-9]{{16,20}}/({_URLSAFE}{{60,}}+)", re.ASCII),
    ),
    _Shape("token", ("_authToken=",), lazy_pattern(r"_authToken=([A-Za-z0-9_.+/-]{20,}+=*+)")),
    _Shape(
        "api-key",
        ("ountKey=", "AccessKey="),
        lazy_pattern(r"(?:ountKey|AccessKey)=([A-Za-z0-9+/]{40,}+=*+)"),
    ),
    # An application's in Entra ID.
    _Shape("api-key", ("8Q~",), lazy_pattern(r"8Q~[A-Za-z0-9_~.-]{31,34}")),
    _Shape(
        "api-key",
        ("ecret_access_key", "ecretAccessKey", "ECRET_ACCESS_KEY"),
        lazy_pattern(
            r"ecret_?access_?key[\"']?\s{0,9}+[:=]\s{0,9}+[\"']?([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])",
            re.IGNORECASE,
        ),
    ),
    _Shape(
        "token",
        ("eyJ",),
        lazy_pattern(
            rf"(?:(?<!{_URLSAFE})|(?<=\\[bfnrt]))eyJ{_URLSAFE}{{10,}}+\.eyJ{_URLSAFE}{{10,}}+"
            rf"\.{_URLSAFE}{{10,}}+"
        ),
    ),
    _Shape(
        "token",
        (":AA",),
        lazy_pattern(rf"(?<=\d{{8}}):(AA{_URLSAFE}{{33}})(?!{_URLSAFE})", re.ASCII),  # Telegram
    ),
    _Shape(
        "token",
        ("earer ", "EARER "),
        lazy_pattern(r"(?i)\bBearer {1,9}+([A-Za-z0-9._~+/-]{20,}+=*+)"),
        1,
    ),
    _Shape(
        "password",
        ("asic ", "ASIC "),
        lazy_pattern(r"(?i)\bBasic {1,9}+([A-Za-z0-9+/_-]{8,}+=*+)"),
        1,
        _is_login,
    ),
    _Shape("password", ("://",), lazy_pattern(r"://[^\s/:@'\"]{0,100}+:([^\s/:@'\"]{3,200}+)@")),
)
_WITH_BLANKS: Final = ("earer ", "EARER ", "asic ", "ASIC ", "://")
"""Anchors that may stand outside of a long word."""
_ANCHORS: Final = tuple((anchor, shape) for shape in _SHAPES for anchor in shape.anchors)
_ANYWHERE: Final = tuple(pair for pair in _ANCHORS if pair[0] in _WITH_BLANKS)
_IN_WORDS: Final = tuple(pair for pair in _ANCHORS if pair[0] not in _WITH_BLANKS)
_SHORTEST_KEY: Final = 14
_DISCORD: Final = lazy_pattern(rf"\.({_URLSAFE}{{6}}\.{_URLSAFE}{{27,38}}+)")
KEY_BEGINS: Final = lazy_pattern(r"-----BEGIN (?:[A-Z0-9]{1,20}+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
KEY_ENDS: Final = lazy_pattern(r"-----END (?:[A-Z0-9]{1,20}+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
LONGEST_PRIVATE_KEY: Final = 20_000

# No code and no placeholder: neither calls and variables nor <your key here>.
_NO_PLACEHOLDER: Final = (
    r"(?!(?i:your|change|example|xxx|placeholder|test\b|none\b|null\b|true\b|false\b))"
)
_WORDS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
_UPPER: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_NOT_BEFORE_NAME: Final = lazy_pattern(r"[A-Za-z0-9_$.-]", re.ASCII)
_EQUALS: Final = lazy_pattern(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)[0-9]*+( ?)=( ?)")
_VALUE: Final = lazy_pattern(rf"{_NO_PLACEHOLDER}[^\s'\"#$(){{}}<>\[\]]{{8}}")
_VALUE_REST: Final = lazy_pattern(r"[^\s'\"#$(){}<>\[\]]*+")
_LINE_END: Final = lazy_pattern(r"[^\S\n]*+(?:#|\r?$)", re.MULTILINE)

# A field of JSON or YAML. A word alone is a label and no password.
_PASSWORD_FIELDS: Final = (*("assword", "ASSWORD", "asswd", "ASSWD", "assphrase", "ASSPHRASE"),)
_OTHER_FIELDS: Final = (
    *("ecret", "ECRET", "api_key", "api-key", "apikey", "apiKey", "ApiKey", "API_KEY", "APIKEY"),
)
_QUOTED: Final = (
    rf"{_NO_PLACEHOLDER}(?=[^\s'\"]{{0,200}}[\d@%^&*+=~])[^\s'\"\\$(){{}}<>\[\]]{{6,200}}+"
)
_BARE: Final = rf"{_NO_PLACEHOLDER}(?=[^\s\\]{{0,200}}\d)[^\s'\"\\#$(){{}}<>\[\].,;:]{{6,200}}+"
_FIELD: Final = lazy_pattern(
    r"(?i:assword|asswd|assphrase|ecret(?:[_-]?key)?|api[_-]?key)\\?[\"']?[^\S\n]{0,9}+:"
    rf"[^\S\n]{{0,9}}+(?:\\?\"({_QUOTED})\\?\"|'({_QUOTED})'"
    rf"|({_BARE})(?=[^\S\n]{{0,9}}+(?:#|\r?$|\\[rn]|\")))",
    re.MULTILINE,
)

# A line of an ini or properties file. What has blanks and quotes is more often code.
_SETTING: Final = lazy_pattern(
    r"(?i:assword|asswd|assphrase|ecret(?:[_-]?key)?|api[_-]?key|oken)"
    rf"(?:[^\S\n]{{0,9}}+=(?!=)[^\S\n]{{0,9}}+({_BARE})|=\\?\"({_QUOTED})\\?\"|='({_QUOTED})')"
    r"(?=[^\S\n]{0,9}+(?:#|\r?$|\\[rn]|\"))",
    re.MULTILINE,
)

_EMAIL: Final = lazy_pattern(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}(?![\w-])"
)
_PHONE: Final = lazy_pattern(r"(?<![\w.+-])\+\d{1,3}(?:[ ./-]?\(?\d{2,5}\)?){2,5}(?![\w-])")
_LONGEST_FOUND: Final = 512
_WINDOW: Final = 8_192


def find_secrets(text: str, rules: Iterable[str] = (SECRETS,)) -> list[Finding]:
    """Return what looks like a secret, in the text's order and without overlaps.

    Args:
        text: Any text, also one of JSON.
        rules: Which of `RULES` to look for: `secrets` are published formats and password fields,
            `assignments` values in lines like `DB_PASSWORD=…` and other secret fields, `pii`
            e-mail addresses and phone numbers.
    """
    found: list[Finding] = []
    if SECRETS in rules:
        if "-----BEGIN " in text:
            found += _private_keys(text)
        # Most texts have hardly a word that is long enough for a key.
        words = text
        if len(text) <= _WINDOW:
            words = " ".join([word for word in text.split() if len(word) >= _SHORTEST_KEY])
        for anchor, shape in _IN_WORDS if words else ():
            if anchor in words:
                found += _of_shape(anchor, shape, text)
        for anchor, shape in _ANYWHERE:
            if anchor in text:
                found += _of_shape(anchor, shape, text)
        if "." in words:
            found += _discord_tokens(text)
        if "ass" in text or "ASS" in text:
            found += _fields(text, _PASSWORD_FIELDS, "password")
    if ASSIGNMENTS in rules:
        found += _assignments(text)
        found += _fields(text, _OTHER_FIELDS, "value")
        if "=" in text:
            names = (*_PASSWORD_FIELDS, *_OTHER_FIELDS, "oken", "OKEN")
            found += _fields(text, names, "value", _SETTING)
    if PII in rules:
        found += _addresses(text)
    return _merged(found) if len(found) > 1 else found


def replace_secrets(
    text: str,
    marker: Callable[[str, str], str | None],
    rules: Iterable[str] = (SECRETS,),
) -> str:
    """Return a text with its secrets replaced.

    Args:
        text: The text.
        marker: Gets a secret and its kind, and returns what takes its place; None leaves it.
        rules: See `find_secrets`.
    """
    parts: list[str] = []
    done = 0
    for start, end, kind in find_secrets(text, rules):
        mark = marker(text[start:end], kind)
        if mark is not None:
            parts += (text[done:start], mark)
            done = end
    return "".join((*parts, text[done:])) if parts else text


def _merged(found: list[Finding]) -> list[Finding]:
    """Overlapping findings become one, of the kind that was found first."""
    ranks: dict[str, int] = {}
    for _, _, kind in found:
        ranks.setdefault(kind, len(ranks))
    merged: list[Finding] = []
    for start, end, kind in sorted(found):
        if merged and start < merged[-1][1]:
            first, last, other = merged.pop()
            merged.append((first, max(last, end), min(kind, other, key=ranks.__getitem__)))
        else:
            merged.append((start, end, kind))
    return merged


def places(text: str, anchors: Iterable[str]) -> Iterator[int]:
    """Yield where any of some literal texts stands."""
    for anchor in anchors:
        at = text.find(anchor)
        while at >= 0:
            yield at
            at = text.find(anchor, at + 1)


def _of_shape(anchor: str, shape: _Shape, text: str) -> Iterator[Finding]:
    at = text.find(anchor)
    while at >= 0:
        match = shape.pattern.match(text, at - shape.back) if at >= shape.back else None
        if match is None:
            at = text.find(anchor, at + 1)
            continue
        if shape.check is None or shape.check(match):
            group = match.lastindex or 0
            yield match.start(group), match.end(group), shape.kind
        # What was read once is not read again, be it a secret or not.
        at = text.find(anchor, max(at + 1, match.end()))


def _private_keys(text: str) -> Iterator[Finding]:
    begins = [
        match for at in places(text, ("-----BEGIN ",)) if (match := KEY_BEGINS.match(text, at))
    ]
    if not begins:
        return
    ends = [match for at in places(text, ("-----END ",)) if (match := KEY_ENDS.match(text, at))]
    starts = [match.start() for match in ends]
    done = 0
    for begin in begins:
        if begin.start() < done:
            continue
        number = bisect_left(starts, begin.end() + 1)
        if number < len(ends) and starts[number] - begin.end() <= LONGEST_PRIVATE_KEY:
            done = ends[number].end()
        elif 0 < len(text) - begin.end() <= LONGEST_PRIVATE_KEY:
            done = len(text)  # Cut off by whoever shortened the text.
        else:
            continue
        yield begin.start(), done, "private-key"


def _assignments(text: str) -> Iterator[Finding]:
    """Values in the lines of an environment file."""
    done = run = end = 0
    for at in sorted(places(text, _WORDS)):
        equals = _EQUALS.match(text, at)
        if equals is None or not _is_name(text, at):
            continue
        quoted = text[equals.end() : equals.end() + 1] in ("'", '"')
        start = equals.end() + quoted
        if not _VALUE.match(text, start):
            continue
        if not run <= start < end:  # Values that begin inside one another end alike.
            rest = _VALUE_REST.match(text, start)
            run, end = start, start if rest is None else rest.end()
        if quoted and text[end : end + 1] != text[start - 1]:
            continue
        # With spaces it may be code, so only a quoted value that looks made up counts.
        if equals.group(1) and not (quoted and _DIGIT.search(text, start + 1, end)):
            continue
        if end > done and _LINE_END.match(text, end + quoted):
            yield start, end, "value"
            done = end


def _is_name(text: str, at: int) -> bool:
    """Whether the word at a place is the end of a variable's name in capitals."""
    before = text[max(0, at - 200) : at]
    head = before.rstrip(_UPPER)
    first = (before + text[at])[len(head)]
    return first.isalpha() and not _NOT_BEFORE_NAME.match(head[-1:])


def _fields(
    text: str, names: tuple[str, ...], kind: str, pattern: re.Pattern[str] = _FIELD
) -> Iterator[Finding]:
    for at in places(text, names):
        match = pattern.match(text, at)
        if match is not None and match.lastindex is not None:
            yield *match.span(match.lastindex), kind


def _discord_tokens(text: str) -> Iterator[Finding]:
    for match in _in_windows(_DISCORD, text):
        if _follows_an_id(match):
            yield match.start(1), match.end(1), "token"


def _addresses(text: str) -> Iterator[Finding]:
    for kind, pattern, anchor in (("e-mail", _EMAIL, "@"), ("phone", _PHONE, "+")):
        if anchor in text:
            for match in _in_windows(pattern, text):
                yield match.start(), match.end(), kind


def _in_windows(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Search a window at a time, so that other threads need not wait for the whole text."""
    at = 0
    while at < len(text):
        done = stop = at + _WINDOW
        for match in pattern.finditer(text, at, stop + _LONGEST_FOUND):
            if match.start() >= stop:
                break
            yield match
            done = max(done, match.end())
        at = done
