"""How risky a call is, in a word, with the reasons for it, and where its paths lead.

It errs on the side of asking: what cannot be read counts as high, what is not known as medium.
The word colours the dialog, decides what may be remembered, and whether silence may grant it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.protected import holds_secrets
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
from amplifier_tui.base.shell.looks import EXPANDED, git_files, looks, tells_names
from amplifier_tui.host.events import Risk
from amplifier_tui.host.gate.calls.deleting import (
    finds_all,
    lets_all_through,
    lists_all,
    loops_of,
    names_all,
    takes_all,
    with_loops,
)
from amplifier_tui.host.gate.calls.git_writing import moved_to
from amplifier_tui.host.gate.calls.in_place import files_in_place
from amplifier_tui.host.gate.calls.obeyed_by_git import told_of_git
from amplifier_tui.host.gate.calls.option_words import looks_like_path
from amplifier_tui.host.gate.calls.searching import meant_secrets, met_secrets
from amplifier_tui.host.gate.calls.whereabouts import Whereabouts, fixed_part
from amplifier_tui.host.gate.places import PathPlace, is_root_like
from amplifier_tui.host.gate.programs import judge_program, linked_files, variables_changed
from amplifier_tui.host.gate.verdicts.git import takes_up, with_files_told
from amplifier_tui.host.gate.verdicts.moves import Moves
from amplifier_tui.host.gate.verdicts.pushing import leaves_remotes, with_remote_told
from amplifier_tui.host.gate.verdicts.words import DELETES, MAY_TELL, NETWORK, ONLY_READS, SECRETS

_ORDER: Final[tuple[Risk, ...]] = ("low", "medium", "high", "critical")
UNREADABLE: Final = "can't be read in full"
OUTSIDE: Final = "writes outside the workspace"
_LINKS_OUT: Final = "links to what is outside the workspace"
READS_OUTSIDE: Final = "reads outside the workspace"
UNSURE_FOLDER: Final = "where a `cd` before it may fail or lead elsewhere"
MAKES_FILE: Final = "makes a file"
CHANGES_FILE: Final = "changes a file"
EMPTIES: Final = "deletes the whole workspace"

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


class _Around(NamedTuple):
    """What is around a command of a line.

    Attributes:
        downloaded: What is piped into it was downloaded.
        listed: What is piped into it names all that is in the workspace.
        loops: The variables of loops, with what they stand for.
        settled: Nothing before it can change where git pushes.
    """

    downloaded: bool
    listed: bool
    loops: Mapping[str, str]
    settled: bool


class JudgedScript(NamedTuple):
    """A command line, a judgement of each command, where each may run, and one of the whole."""

    line: ShellLine
    each: tuple[Judgement, ...]
    heres: tuple[tuple[Whereabouts, ...], ...]
    whole: Judgement


def judge_script(text: str, workspace: Path, folder: Path | None = None) -> JudgedScript:
    """Judge a command line that runs in `folder`, or in the workspace."""
    return judge_line(read_shell_line(text), text, workspace, folder)


def judge_line(
    script: ShellLine, text: str, workspace: Path, folder: Path | None = None
) -> JudgedScript:
    """Judge a command line that was taken apart, from what is written there."""
    each: list[Judgement] = []
    heres: list[tuple[Whereabouts, ...]] = []
    downloading, listing, settled = set[int](), set[int](), True
    loops = loops_of(text)
    moves = Moves(script, Whereabouts(workspace, folder or workspace))
    for command in script.commands:
        heres.append(moves.before(command))
        number = command.pipeline
        around = _Around(number in downloading, number in listing, loops, settled)
        each.append(_judge_in(command, heres[-1], around))
        if number and _downloads(command):
            downloading.add(number)
        if number and any(lists_all(command, here) for here in heres[-1]):
            listing.add(number)
        elif not lets_all_through(command):
            listing.discard(number)
        settled = settled and (command.words[:1] == ("cd",) or leaves_remotes(command))
        moves.after(command, changes=severity(each[-1].risk) > 0)
    whole = worst(each)
    if not script.complete:
        whole = whole.joined(Judgement("high", (UNREADABLE,)))
    if _FORK_BOMB.search(text):
        whole = whole.joined(Judgement("critical", ("starts processes without end",)))
    return JudgedScript(script, tuple(each), tuple(heres), whole)


MOST_PLACES: Final = 1_000
"""Files of one command that are looked at; what names more is neither harmless nor covered."""
_MANY: Final = "names more files than are looked at"


def _judge_in(command: ShellCommand, heres: tuple[Whereabouts, ...], around: _Around) -> Judgement:
    """Judge a command in each folder that it may run in."""
    expected, *others = (_judge_command(command, here, around) for here in heres)
    whole = worst((expected, *others))
    if whole.reasons and severity(whole.risk) > max(severity(expected.risk), severity("medium")):
        whole = replace(whole, reasons=(*whole.reasons, UNSURE_FOLDER))
    return whole


def _judge_command(command: ShellCommand, here: Whereabouts, around: _Around) -> Judgement:
    found = programs_of(command)
    whole = worst(_judge_run(run, here, around) for run in found)
    changed = variables_changed(command.written, command.assignments)
    if changed is not None:
        whole = whole.joined(Judgement(*changed))
    for redirect in command.redirections:
        whole = whole.joined(_judge_redirect(redirect, here))
    if command.piped and around.downloaded and _runs_input(found):
        whole = whole.joined(Judgement("critical", ("runs what it downloads",)))
    elif command.piped and _runs_input(found, SHELLS):
        whole = whole.joined(Judgement("high", (UNREADABLE,)))
    searched = met_secrets(command, here.workspace, here.folder)
    met = [here.locate(str(path)) for path in searched]
    if met := met + meant_secrets(command, here, around.loops):
        whole = whole.joined(Judgement("high", (SECRETS,), tuple(met), met=True))
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
    place = told_of_git(place)
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
        kept = any(map(holds_secrets, (place.path, place.named)))
        return Judgement("high", (SECRETS if kept else MAY_TELL,), (place,))
    if place.outside:
        return Judgement("medium", (READS_OUTSIDE,), (place,))
    return Judgement("low", (), (place,))


def _judge_run(run: ProgramRun, here: Whereabouts, around: _Around) -> Judgement:
    if not run.command.words:
        return Judgement("low", ("sets variables",) if run.command.assignments else ())
    told = run.program == "git"
    words = with_files_told(run.arguments, here.folder) if told else run.arguments
    verdict = judge_program(run.program, words)
    if around.settled and here.known:
        verdict = with_remote_told(verdict, run, here.folder)
    whole = Judgement(*verdict)
    given = run.program in (".", "source") and (
        not all(run.command.known) or run.arguments[:1] == ("/dev/stdin",)
    )
    if not run.readable or not run.program or given:
        whole = whole.joined(Judgement("high", (UNREADABLE,)))
    whole = whole.joined(worst(_judge_paths(run, here)))
    if run.program == "find":
        whole = whole.joined(_judge_find(run, here))
    whole = whole.joined(_judge_deletion(run, here, around))
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
    if run.program == "git":
        # Files of a revision, `HEAD:.env`, and the like.
        named = (here.locate(file) for word in run.arguments for file in git_files(word))
        yield from (_judge_read(place) for place in named if place.secret)
        moved = map(here.locate, moved_to(run.arguments))
        yield from (judge_write(place) for place in moved if place.configures or place.secret)
    near = far = 0
    changed = run.program in CHANGES_ARGUMENTS
    read_as = _reading_of(run)
    in_place = files_in_place(run.program, run.arguments) or ()
    linked = linked_files(run.program, run.arguments)
    arguments = list(zip(run.arguments, run.command.known[1:], strict=False))
    numbered = [
        (*(_with_place(written, each, here) if changed or at in in_place else each), at in in_place)
        for at, (written, each) in enumerate(zip(run.command.written[1:], arguments, strict=False))
    ]
    if run.program in ("chmod", "chown", "chgrp"):
        # The first is the mode or the owner.
        numbered = [item for item in numbered if not item[0].startswith("-")][1:]
    for word, known, edited in (each for each in numbered if each[0][:1] not in ("", "-")):
        changes = changed or edited
        if run.program == "dd":
            word = word.removeprefix("of=") if word.startswith("of=") else ""
        if not looks_like_path(word, changes):
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
        place = here.locate(word if known else fixed_part(word))
        if changes and word in linked and place.outside and not (place.secret or place.configures):
            yield Judgement("high", (_LINKS_OUT,), (place,))
        elif changes:
            yield _judge_change(run, place, known, word)
            if run.program in _DELETERS and not known:
                found = map(here.locate, here.matches(word) or ())
                yield worst(judge_write(each) for each in found if each.secret or each.configures)
        else:
            yield _judge_read(read_as(place)) if place.exists or place.secret else Judgement()
            if not known and not tells_names(run.command):
                yield from map(_judge_read, map(read_as, here.configuring_outside(word)))


def _reading_of(run: ProgramRun) -> Callable[[PathPlace], PathPlace]:
    """Return what makes of a file that a program is given what it is to that one.

    What the program surely leaves as it is, configures nothing anew; and of what it does not look
    into, it tells no keys.
    """
    # Where it writes what it says is judged on its own.
    seen = looks(replace(run.command, redirections=()))
    leaves = seen is not None or (run.program == "git" and takes_up(run.arguments))
    untold = tells_names(run.command)

    def read(place: PathPlace) -> PathPlace:
        if not leaves:
            return place
        if place.outside:
            # Reading takes effect on nobody there either, but settings may hold passwords.
            told = place.secret or (place.tells_by_reading and not untold)
            return place if seen is None else replace(place, configures="", secret=told)
        return replace(place, configures="", secret=place.secret and not untold)

    return read


def _with_place(written: str, argument: tuple[str, bool], here: Whereabouts) -> tuple[str, bool]:
    named = here.named(written)
    return (named, not re.search(r"[$`*?\[{(]", named)) if named else argument


def _judge_find(run: ProgramRun, here: Whereabouts) -> Judgement:
    """Judge what `find` deletes: everything below its folders, unless some test says what."""
    words = run.arguments
    deletes = "-delete" in words or any(word.rpartition("/")[2] in _DELETERS for word in words)
    if deletes and (places := finds_all(words, here)):
        return Judgement("critical", ("deletes everything below its folders",), places)
    return Judgement()


def _judge_deletion(run: ProgramRun, here: Whereabouts, around: _Around) -> Judgement:
    """Judge what is deleted by patterns, by a loop, or as a list says: it may be everything."""
    if taken := takes_all(run, here):
        return Judgement("critical", (taken,))
    if run.program not in _DELETERS - {"mv", "rmdir"}:
        return Judgement()
    pairs = list(zip(run.command.written[1:], run.command.known[1:], strict=True))
    looped = with_loops([word for word, _ in pairs], around.loops)
    words = [here.named(word) or word for word in looped if not word.startswith("-")]
    chosen = any(not known and EXPANDED.search(word) for word, known in pairs)
    listed = around.listed and ("xargs" in run.wrappers or chosen)
    if listed or (emptied := names_all(words, here)) is None:
        return Judgement("critical", (EMPTIES,)) if listed else Judgement()
    high = is_root_like(emptied)
    return Judgement("critical", ("deletes everything" if high else EMPTIES,), (emptied,))


def _judge_change(run: ProgramRun, place: PathPlace, known: bool, word: str) -> Judgement:
    if run.program in _DELETERS and is_root_like(place) and (known or word.endswith("*")):
        return Judgement("critical", ("deletes everything",), (place,))
    whole = known and place.shown == "."
    if run.program in _DELETERS and whole and run.program != "mv":
        return Judgement("critical", (EMPTIES,), (place,))
    judgement = judge_write(place)
    # The file a command names itself is told by the program's own reason.
    reasons = tuple(r for r in judgement.reasons if r not in ("changes a file", MAKES_FILE))
    risk: Risk = judgement.risk if reasons else "low"
    return Judgement(risk, reasons, judgement.places)


def _runs_input(found: tuple[ProgramRun, ...], programs: frozenset[str] = INTERPRETERS) -> bool:
    for run in found:
        plain = [word for word in run.arguments if not word.startswith("-")]
        if run.program in programs and (not plain or "-s" in run.arguments):
            return True
    return False


def _downloads(command: ShellCommand) -> bool:
    return any(run.program in _DOWNLOADERS for run in programs_of(command))
