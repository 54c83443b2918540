"""How risky a call is, in a word, with the reasons for it, and where its paths lead.

It errs on the side of asking: what cannot be read counts as high, what is not known as medium.
The word colours the dialog, decides what may be remembered, and whether silence may grant it.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.shell import (
    ROOT_WRAPPERS,
    SHELLS,
    ProgramRun,
    Redirection,
    ShellCommand,
    ShellLine,
    programs_of,
    read_shell_line,
)
from amplifier_tui.base.shell.looks import EXPANDED
from amplifier_tui.host.events import Risk
from amplifier_tui.host.gate.calls.searching import met_secrets
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts
from amplifier_tui.host.gate.places import PathPlace, is_root_like, resolved
from amplifier_tui.host.gate.programs import (
    DELETES,
    NETWORK,
    ONLY_READS,
    judge_program,
    variables_changed,
)

_ORDER: Final[tuple[Risk, ...]] = ("low", "medium", "high", "critical")
UNREADABLE: Final = "can't be read in full"
OUTSIDE: Final = "writes outside the workspace"
READS_OUTSIDE: Final = "reads outside the workspace"
SECRETS: Final = "touches keys or passwords"
MAKES_FILE: Final = "makes a file"
CHANGES_FILE: Final = "changes a file"

_DOWNLOADERS: Final = frozenset({"curl", "wget", "fetch", "aria2c"})
INTERPRETERS: Final = SHELLS | {"python", "python3", "node", "perl", "ruby", "php", "deno"}
# Programs whose plain arguments are files they change.
CHANGES_ARGUMENTS: Final = frozenset({"rm", "rmdir", "mv", "cp", "ln", "mkdir", "touch", "tee"}) | {
    "truncate",
    "shred",
    "unlink",
    "chmod",
    "chown",
    "chgrp",
    "dd",
    "install",
}
_DELETERS: Final = frozenset({"rm", "rmdir", "shred", "unlink", "mv"})
_FORK_BOMB = re.compile(r":\s*\(\s*\)\s*\{")


@dataclass(frozen=True, slots=True)
class Judgement:
    """How risky something is: in a word, why (most serious first), and the paths it names.

    `met` says that it would show some of a file of keys that it does not name.
    """

    risk: Risk = "low"
    reasons: tuple[str, ...] = ()
    places: tuple[PathPlace, ...] = ()
    met: bool = False

    @property
    def outside(self) -> bool:
        """Whether some path lies outside the workspace."""
        return any(place.outside for place in self.places)

    @property
    def can_be_kept(self) -> bool:
        """Whether a rule for longer than the session may come of an answer."""
        return not self.outside and severity(self.risk) <= severity("medium")

    def with_opinion(self, opinion: Risk | None, *, of_call: bool) -> "Judgement":
        """Return it together with an asker's own opinion.

        Hooks judge by the tool's name. Where a call itself was read, that reading counts, unless
        the hook says critical: then somebody wrote a rule for this.
        """
        if opinion is None or (of_call and self.reasons and opinion != "critical"):
            return self
        return self.joined(Judgement(opinion))

    def joined(self, other: "Judgement") -> "Judgement":
        """Return both together: the higher risk, all reasons."""
        return worst((self, other))


def severity(risk: Risk) -> int:
    """Return a number that grows with the risk."""
    return _ORDER.index(risk)


def worst(judgements: Iterable[Judgement]) -> Judgement:
    """Return all judgements as one: the highest risk, all reasons, all places."""
    found = list(judgements)
    by_risk = sorted(found, key=lambda judgement: -severity(judgement.risk))
    risk = by_risk[0].risk if by_risk else "low"
    reasons = dict.fromkeys(reason for judgement in by_risk for reason in judgement.reasons)
    if len(reasons) > 1 or risk != "low":
        # One of them does more, so all of them together don't only read.
        reasons.pop(ONLY_READS, None)
    places = dict.fromkeys(place for judgement in found for place in judgement.places)
    return Judgement(risk, tuple(reasons), tuple(places), any(each.met for each in found))


class JudgedScript(NamedTuple):
    """A command line, a judgement of each command and where it runs, and one of the whole."""

    line: ShellLine
    each: tuple[Judgement, ...]
    heres: "tuple[Whereabouts, ...]"
    whole: Judgement


def judge_script(text: str, workspace: Path, folder: Path | None = None) -> JudgedScript:
    """Judge a command line that runs in `folder`, or in the workspace."""
    script = read_shell_line(text)
    each: list[Judgement] = []
    heres: list[Whereabouts] = []
    downloading: set[int] = set()
    here = Whereabouts(workspace, folder or workspace)
    for command in script.commands:
        heres.append(here)
        each.append(judge_command(command, here, command.pipeline in downloading))
        if command.pipeline and _downloads(command):
            downloading.add(command.pipeline)
        here = after_command(command, here)
    whole = worst(each)
    if not script.complete:
        whole = whole.joined(Judgement("high", (UNREADABLE,)))
    if _FORK_BOMB.search(text):
        whole = whole.joined(Judgement("critical", ("starts processes without end",)))
    return JudgedScript(script, tuple(each), tuple(heres), whole)


MOST_PLACES: Final = 1_000
"""Files of one command that are looked at; what names more is neither harmless nor covered."""
_MANY: Final = "names more files than are looked at"


def after_command(command: ShellCommand, here: Whereabouts) -> Whereabouts:
    """Return where the commands behind a command run."""
    words, known = command.words, command.known
    if command.nested or not words or words[0] not in ("cd", "pushd"):
        return here
    target = next(
        ((w, k) for w, k in zip(words[1:], known[1:], strict=True) if not w.startswith("-")),
        ("~", words[1:] == ()),
    )
    if not target[1]:
        return Whereabouts(here.workspace, here.folder, known=False)
    # Links stay in it, as in the shell's own idea of where it is: `cd ..` leads back out of them.
    folder = Path(os.path.normpath(here.folder / os.path.expanduser(target[0])))
    physical = any(word.startswith("-") and "P" in word for word in words[1:])
    return Whereabouts(here.workspace, resolved(folder) if physical else folder, here.known)


def judge_command(command: ShellCommand, here: Whereabouts, downloaded: bool = False) -> Judgement:
    """Judge one simple command; `downloaded` says that what is piped into it was."""
    found = programs_of(command)
    whole = worst(_judge_run(run, here) for run in found)
    changed = variables_changed(command.written, command.assignments)
    if changed is not None:
        whole = whole.joined(Judgement(*changed))
    for redirect in command.redirections:
        whole = whole.joined(_judge_redirect(redirect, here))
    if command.piped and downloaded and _runs_input(found):
        whole = whole.joined(Judgement("critical", ("runs what it downloads",)))
    elif command.piped and _runs_input(found, SHELLS):
        whole = whole.joined(Judgement("high", (UNREADABLE,)))
    if met := met_secrets(command, here.workspace, here.folder):
        places = tuple(here.locate(str(path)) for path in met)
        whole = whole.joined(Judgement("high", (SECRETS,), places, met=True))
    if not here.known and severity(whole.risk) > 0:
        whole = whole.joined(Judgement("high", ("in a folder only known when it runs",)))
    return whole


def _judge_redirect(redirect: Redirection, here: Whereabouts) -> Judgement:
    if redirect.writes:
        if not redirect.known:
            return Judgement("high", (UNREADABLE,))
        return judge_write(here.locate(redirect.target))
    if redirect.operator == "<" and redirect.known:
        return _judge_read(here.locate(redirect.target))
    return Judgement()


def judge_write(place: PathPlace) -> Judgement:
    """Judge writing a file."""
    if str(place.path) in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
        return Judgement()
    places = (place,)
    if str(place.path).startswith("/dev/"):
        return Judgement("critical", ("overwrites a device",), places)
    if place.secret:
        return Judgement("high", (SECRETS,), places)
    if place.configures:
        return Judgement("high", (f"takes effect on {place.configures}",), places)
    if place.system:
        return Judgement("critical", ("changes the operating system",), places)
    if place.outside:
        return Judgement("high", (OUTSIDE,), places)
    return Judgement("medium", (CHANGES_FILE if place.exists else MAKES_FILE,), places)


def judge_delete(place: PathPlace) -> Judgement:
    """Judge deleting a file."""
    found = judge_write(place)
    return worst(
        (
            Judgement("high", (DELETES,), (place,)),
            replace(
                found,
                reasons=tuple(
                    reason for reason in found.reasons if reason not in (MAKES_FILE, CHANGES_FILE)
                ),
            ),
        )
    )


def judge_tool_read(place: PathPlace) -> Judgement:
    """Judge reading a file or a folder."""
    base = Judgement("low", (ONLY_READS,), (place,))
    return _judge_read(place).joined(base)


def _judge_read(place: PathPlace) -> Judgement:
    if place.secret:
        return Judgement("high", (SECRETS,), (place,))
    if place.outside:
        return Judgement("medium", (READS_OUTSIDE,), (place,))
    return Judgement("low", (), (place,))


def _judge_run(run: ProgramRun, here: Whereabouts) -> Judgement:
    if not run.command.words:
        return Judgement("low", ("sets variables",) if run.command.assignments else ())
    risk, reasons = judge_program(run.program, run.arguments)
    whole = Judgement(risk, reasons)
    given = run.program in (".", "source") and (
        not all(run.command.known) or run.arguments[:1] == ("/dev/stdin",)
    )
    if not run.readable or not run.program or given:
        whole = whole.joined(Judgement("high", (UNREADABLE,)))
    whole = whole.joined(worst(_judge_paths(run, here)))
    if run.program == "find":
        whole = whole.joined(_judge_find(run, here))
    root = next((w for w in (*run.wrappers, run.program) if w in ROOT_WRAPPERS), "")
    if root:
        harsh = severity(whole.risk) >= severity("high")
        whole = whole.joined(Judgement("critical" if harsh else "high", (root,)))
    unknown = not all(run.command.known[1:])
    pairs = zip(run.command.written[1:], run.command.known[1:], strict=True)
    expanded = any(not known and EXPANDED.search(word) for word, known in pairs)
    chosen = run.program in CHANGES_ARGUMENTS - {"mkdir"} and expanded
    if chosen or (run.program in _DELETERS and ("xargs" in run.wrappers or unknown)):
        whole = whole.joined(Judgement("high", ("on files chosen when it runs",)))
    if any(word.startswith(("http://", "https://", "ftp://")) for word in run.arguments):
        # `npx`, `docker run` and the like take addresses too.
        whole = whole.joined(Judgement("medium", (NETWORK,)))
    return whole


def _judge_paths(run: ProgramRun, here: Whereabouts) -> Iterable[Judgement]:
    near = far = 0
    changes = run.program in CHANGES_ARGUMENTS
    arguments = list(zip(run.arguments, run.command.known[1:], strict=False))
    if changes:
        arguments = [*map(_named_place, run.command.written[1:], arguments)]
    if run.program in ("chmod", "chown", "chgrp"):
        # The first is the mode or the owner.
        arguments = [item for item in arguments if not item[0].startswith("-")][1:]
    for word, known in ((word, known) for word, known in arguments if word[:1] not in ("", "-")):
        if run.program == "dd":
            word = word.removeprefix("of=") if word.startswith("of=") else ""
        if run.program == "git" and (file := word.partition(":")[2]):
            # A file of a revision, `HEAD:.env`.
            place = here.locate(file)
            yield _judge_read(place) if place.secret else Judgement()
        if not _looks_like_path(word, changes):
            continue
        if not known or word.startswith(("/", "~", ".")) or ".." in word or "/." in word:
            far += 1
            if far > MOST_PLACES:
                # Among the rest there may be anything.
                yield Judgement("critical" if changes else "high", (_MANY,))
                return
        else:
            near += 1
            if near == MOST_PLACES + 1:
                yield Judgement("high", (_MANY,))
            if near > MOST_PLACES:
                continue
        place = here.locate(word if known else _fixed_part(word))
        if changes:
            yield _judge_change(run, place, known, word)
        else:
            yield _judge_read(place) if place.exists or place.secret else Judgement()


_PLACES: Final = re.compile(r"(?:\$(?:PWD|\{PWD\}|\(pwd\))|`pwd`|(\$(?:HOME|\{HOME\})))(?=/|\Z)")


def _named_place(written: str, argument: tuple[str, bool]) -> tuple[str, bool]:
    """Return an argument with the place in it that a shell's own variable names."""
    found = _PLACES.match(written)
    if found is None:
        return argument
    rest = written[found.end() :]
    return ("~" if found[1] else ".") + rest, not re.search(r"[$`*?\[{(]", rest)


_NARROWS: Final = re.compile(
    r"-(?:i?(?:name|path|regex|wholename)|newer\w*|[acm](?:min|time)|empty|size|type|maxdepth|prune"
    r"|perm|user|group|links|inum|samefile)"
)


def _judge_find(run: ProgramRun, here: Whereabouts) -> Judgement:
    """Judge what `find` deletes: everything below its folders, unless some test says what."""
    words = run.arguments
    first = next((at for at, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))
    deletes = "-delete" in words or any(word.rpartition("/")[2] in _DELETERS for word in words)
    tests = [word for word in words if _NARROWS.fullmatch(word)]
    if not deletes or any(word not in ("-type", "-maxdepth") for word in tests):
        return Judgement()
    places = [here.locate(word) for word in words[:first] or (".",)]
    if any(place.shown == "." or is_root_like(place) for place in places):
        return Judgement("critical", ("deletes everything below its folders",), tuple(places))
    return Judgement()


def _judge_change(run: ProgramRun, place: PathPlace, known: bool, word: str) -> Judgement:
    if run.program in _DELETERS and is_root_like(place) and (known or word.endswith("*")):
        return Judgement("critical", ("deletes everything",), (place,))
    if run.program in _DELETERS and place.shown == "." and run.program != "mv":
        return Judgement("critical", ("deletes the whole workspace",), (place,))
    judgement = judge_write(place)
    # The file a command names itself is told by the program's own reason.
    reasons = tuple(r for r in judgement.reasons if r not in ("changes a file", MAKES_FILE))
    risk: Risk = judgement.risk if reasons else "low"
    return Judgement(risk, reasons, judgement.places)


def _fixed_part(word: str) -> str:
    """Return the folder a pattern like `build/*` lies in."""
    for index, char in enumerate(word):
        if char in "*?[":
            return word[:index].rpartition("/")[0] + "/" if "/" in word[:index] else "."
    return word


def _looks_like_path(word: str, changes: bool) -> bool:
    if not word or "://" in word or "\n" in word or len(word) > 1_000:
        return False
    if changes:
        return True
    # What begins with a dot may configure programs: `.git`, `.envrc`.
    return word.startswith(("/", "~", ".")) or "/." in word


def _runs_input(found: tuple[ProgramRun, ...], programs: frozenset[str] = INTERPRETERS) -> bool:
    for run in found:
        plain = [word for word in run.arguments if not word.startswith("-")]
        if run.program in programs and (not plain or "-s" in run.arguments):
            return True
    return False


def _downloads(command: ShellCommand) -> bool:
    return any(run.program in _DOWNLOADERS for run in programs_of(command))
