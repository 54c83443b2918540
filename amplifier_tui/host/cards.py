"""What a front end is told where it asks: bundles, sessions, models, modules, memories, rules."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events import Mode, PlanStep, ReportItem, Risk, Scope

BundleState = Literal["ready", "incomplete", "needs_key", "not_fetched", "invalid"]
RuleOwner = Literal["session", "user", "project", "bundle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """One model of a mounted provider, or why its models can't be listed.

    Attributes:
        context_window: Tokens; 0 when unknown.
        answer_reserve: Tokens of the window kept for an answer: as long as one is asked for.
        input_price: US dollars per million tokens, as decimal text; None when unknown.
        output_price: The same.
        price_source: Whose prices these are, and of when; empty when unknown.
        takes: What it can do: `images`, `thinking`, `tools`.
        efforts: How hard it can be told to think.
        current: It answers the next request.
        problem: Why there is no list; then `model` is empty.
    """

    provider: str
    model: str = ""
    title: str = ""
    context_window: int = 0
    max_output_tokens: int = 0
    answer_reserve: int = 0
    input_price: str | None = None
    output_price: str | None = None
    price_source: str = ""
    takes: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ()
    current: bool = False
    problem: str = ""

    @property
    def key(self) -> str:
        """Identifies it among those of the session."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleCard:
    """One line of the bundle picker."""

    name: str
    description: str = ""
    origin: str = ""
    """`shipped`, `user`, `project`, `added`, or the URI."""
    state: BundleState = "ready"
    error: str = ""
    """Why it is not ready; with file and line, when `state` is `invalid`."""
    active: bool = False
    missing: tuple[str, ...] = ()
    """Environment variables its providers need and do not find."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedModule:
    """One module a bundle would mount."""

    module_id: str
    kind: str
    source: str = ""
    origin: str = ""
    """The bundle that contributes it."""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundlePreview:
    """What the picker shows beside the list; no bundle code has run to make it."""

    card: BundleCard
    version: str = ""
    modules: tuple[PlannedModule, ...] = ()
    agents: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    base_tokens: int = 0
    """Estimate of the instruction and context files; tool schemas are not known before mounting."""
    report: tuple[ReportItem, ...] = ()
    """What it would open without, as far as that is known without running it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """What became of an export.

    Attributes:
        count: Messages in it, or events; `secrets` were taken out of them.
        unreadable: Rows on disk that could not be read and are not in it.
        exists: Nothing was written: the file is there already.
        problem: Why nothing was written, in a sentence; empty where it was.
    """

    path: str
    count: int = 0
    secrets: int = 0
    unreadable: int = 0
    exists: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPreview:
    """What compacting the conversation now would do; nothing of it has been done.

    Attributes:
        possible: Whether it would save anything.
        before: Tokens of the next request as it is.
        after: Tokens of it after a compaction by rule.
        window: The model's context window; 0 when unknown.
        trigger: Compaction starts here by itself; 0 when unknown.
        target: Where a compaction aims; 0 when unknown.
        floor: What no compaction can remove.
        steps: What would happen, the largest saving first.
        kept: What stays as it is, in words.
        reason: Why nothing would be saved, or why this context cannot be compacted by hand.
        model: The model that would write a summary; empty when none can.
    """

    possible: bool
    before: int = 0
    after: int = 0
    window: int = 0
    trigger: int = 0
    target: int = 0
    floor: int = 0
    steps: tuple[PlanStep, ...] = ()
    kept: tuple[str, ...] = ()
    reason: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAsideCard:
    """Something that was moved aside, as a command in the sandbox may have made it.

    Attributes:
        key: What `put_back` takes.
        name: Where it was, from the session's folder.
        at: When it was moved, Unix time in seconds.
        text: What is in it, without secrets; of a folder the names in it.
    """

    key: str
    name: str
    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCard:
    """One stored memory.

    Attributes:
        memory_id: What `forget` takes.
        text: What was remembered.
        created: Unix time in seconds.
        session_id: The session it was made in; empty when unknown.
        everywhere: True when it counts in every project, False for this project only.
    """

    memory_id: int
    text: str
    created: float = 0.0
    session_id: str = ""
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleSetting:
    """One setting of a module.

    Attributes:
        value: As JSON; secrets are replaced.
        owner: Whose word the value is: `program`, `user`, `project` or `stranger`.
        where: File and line it is from, or the bundle; empty for a default.
        about: What the value has to be, in words; empty when that is not known.
        given: It is in the module's configuration; else this is the default.
        editable: `configure` may change it.
        redacted: A part of the value is a secret and not shown: the text is no value to give back.
    """

    name: str
    value: str
    owner: str = ""
    where: str = ""
    about: str = ""
    given: bool = True
    editable: bool = False
    redacted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCard:
    """One tool of a module; `schema` is JSON."""

    name: str
    description: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleDetails:
    """What a module of the session is made of; `key` is what the methods on modules take."""

    key: str
    settings: tuple[ModuleSetting, ...] = ()
    tools: tuple[ToolCard, ...] = ()
    folder: str = ""
    """Where its code is, as far as that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCard:
    """One standing rule, or what is wrong with a file of rules.

    Attributes:
        key: What the methods on rules take.
        text: As it is written; empty for a problem.
        meaning: What it speaks of, in words.
        verdict: `allow`, `ask` or `deny`.
        scope: How long it holds.
        owner: Whose word it is: of the session, the user, the project or its bundle.
        where: File and line, or the bundle.
        uses: Calls it decided by itself in the last 30 days.
        last_use: Unix time in seconds; 0 for none.
        editable: `change_rule` and `remove_rule` may be called for it.
        problem: Why it does not count; empty where it does.
        doubtful: It may never hold; `meaning` says why, and which rule does.
    """

    key: str
    text: str = ""
    meaning: str = ""
    verdict: Literal["allow", "ask", "deny"] = "allow"
    scope: Scope = "session"
    owner: RuleOwner = "session"
    where: str = ""
    uses: int = 0
    last_use: float = 0.0
    editable: bool = False
    problem: str = ""
    doubtful: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCard:
    """One decision about a call, or about a hook's question; secrets are replaced.

    Attributes:
        key: Identifies it among all.
        at: Unix time in seconds.
        tool: Empty for a question outside of a call; then `prompt` says what was asked.
        outcome: `allowed`, `denied`, `timed_out`, `cancelled` or `changed`.
        by: `user`, `rule`, `mode`, `hook` (the asker's), `timeout` or `stop`.
        rule: The rules that decided, or that were kept of the answer.
        scope: How long the answer holds.
        asker: The module that asked.
        call_id, lane: Which call of its session it was.
    """

    key: str
    session_id: str
    at: float = 0.0
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    outcome: str = ""
    by: str = "user"
    rule: str = ""
    mode: str = ""
    scope: str = "once"
    reason: str = ""
    asker: str = ""
    prompt: str = ""
    risk: str = ""
    reasons: tuple[str, ...] = ()
    call_id: str = ""
    lane: str = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCall:
    """A call that was decided about, and what would be decided now."""

    card: AuditCard
    verdict: Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExplanation:
    """What happens to a call, and why.

    Attributes:
        verdict: Whether it goes, is asked about or refused.
        reason: In words: the rule, the mode, or why only a person may decide.
        rule: The rules that decide; empty where none does.
        where: File and line of the rule.
        near: Why a rule that nearly covers it does not, and which would; empty for none.
        risk, reasons: How risky it is, and why.
        past: The calls of the last 30 days that the same rule decides, or those of the same tool;
            the newest first.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    verdict: Literal["allow", "ask", "deny"] = "ask"
    reason: str = ""
    rule: str = ""
    where: str = ""
    near: str = ""
    mode: Mode = "ask"
    risk: Risk = "medium"
    reasons: tuple[str, ...] = ()
    past: tuple[PastCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeCard:
    """A git worktree that a session works in, beside the user's checkout.

    Attributes:
        path: Its top folder.
        original: The checkout it was made beside; empty where there is none.
        cwd: The folder in it to work in.
        changes: Files that are changed or new and not committed.
        commits: Those that no other branch has.
        ignored: Files that git ignores, and that go when the worktree is removed.
        submodules: It has some that are checked out, or were once.
        below: What would be lost with its submodules, in words, for each that holds some.
        found: It was asked for by its name, and was there already.
    """

    path: str
    branch: str
    original: str = ""
    cwd: str = ""
    changes: int = 0
    commits: int = 0
    ignored: int = 0
    submodules: bool = False
    below: tuple[str, ...] = ()
    found: bool = False

    @property
    def work(self) -> str:
        """What would be lost with it, in words; empty for nothing."""
        own = work_in_words(self.changes, self.commits, "no other branch")
        return ", and ".join(filter(None, (own, *self.below)))


def work_in_words(changes: int, commits: int, lacking: str) -> str:
    """Return what would be lost with a checkout, in words; empty for nothing.

    Args:
        changes: Files that are changed or new and not committed.
        lacking: What has none of those commits.
    """
    counts = (
        (changes, "file", "that {} not committed", ("is", "are")),
        (commits, "commit", f"that {lacking} {{}}", ("has", "has")),
    )
    return " and ".join(
        f"{count} {noun}{'s' if count > 1 else ''} {rest.format(verbs[count > 1])}"
        for count, noun, rest, verbs in counts
        if count
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeMerge:
    """What a merge of a worktree's branch did.

    Attributes:
        into: The branch that is checked out in `original`, which has its commits now.
        commits: How many those are.
        commit: The name of the merge commit; empty where the branch just went forward.
        submodules: Those of which it names other commits now, which are not checked out there.
    """

    branch: str
    into: str
    original: str
    commits: int
    commit: str = ""
    submodules: tuple[str, ...] = ()
