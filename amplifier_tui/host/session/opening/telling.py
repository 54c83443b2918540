"""What the user is told while a session opens, and of its disk after that."""

from collections.abc import Callable, Iterable
from time import time
from typing import Final

from amplifier_tui.base.text import with_remedy
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.checks.bundle_file import Problem
from amplifier_tui.foundation.checks.opening_report import where
from amplifier_tui.host.events import (
    Failed,
    HostEvent,
    Level,
    Notice,
    NoticeEnd,
    SavingChanged,
    SessionOpened,
)
from amplifier_tui.host.failures import no_provider_remedy
from amplifier_tui.host.redaction import Redactor
from amplifier_tui.host.session.modules.facts import ProviderFacts, section_of
from amplifier_tui.host.session.parts import SessionParts
from amplifier_tui.host.session.places.workspaces import git_branch
from amplifier_tui.host.store.session_store import SessionStore

_TOLD: Final = frozenset({"fetching", "installing", "installing_package"})
"""What of the preparation takes long enough to be told."""


class OpeningNotices:
    """Sends notices of one session.

    Args:
        put: Takes events on their way up.

    Attributes:
        session_id: Whose they are.
        redactor: Takes secrets out of them.
    """

    def __init__(self, put: Callable[[HostEvent], None], session_id: str) -> None:
        self.session_id = session_id
        self.redactor = Redactor()
        self._put = put
        self._said: set[str] = set()

    def say(self, level: Level, text: str, source: str = "host", until: NoticeEnd = "") -> None:
        """Send a notice."""
        self._put(
            Notice(
                session_id=self.session_id,
                at=time(),
                level=level,
                text=self.redactor.text(text),
                source=source,
                until=until,
            )
        )

    def progress(self, action: str, detail: str) -> None:
        """Say what a bundle's preparation does, where that takes long."""
        line = f"{action.replace('_', ' ')} {detail}"
        if action in _TOLD and line not in self._said:
            self._said.add(line)
            self.say("info", line, "bundle", "opened")

    def disk_trouble(self, error: OSError | None) -> None:
        """Say that the session can't be saved and why, or, without an error, that it is again."""
        problem = (error.strerror or str(error)) if error is not None else ""
        self._put(SavingChanged(session_id=self.session_id, at=time(), problem=problem))
        if error is None:
            self.say("info", "The session is saved again", "store")
            return
        text = (
            f"The session can't be saved: {problem}. It goes on; what is not saved "
            "yet is kept and written when the disk takes it"
        )
        self.say("error", text, "store")

    def mended(self, store: SessionStore) -> None:
        """Say what was wrong with a stored session."""
        if store.torn is not None:
            text = f"The stored conversation had a torn end; it is in {store.torn.name} now"
            self.say("warning", text)
        if store.recovered:
            what = "1 message" if store.recovered == 1 else f"{store.recovered} messages"
            self.say("info", f"The program ended in mid-turn; {what} of it could be recovered")

    def problems(self, found: Iterable[Problem]) -> None:
        """Say what is wrong with a bundle, and where it stands."""
        for problem in found:
            text = with_remedy(problem.message, problem.remedy)
            # The place comes last: a line of the screen may have room for one of the two.
            place = where(problem.path, problem.line)
            self.say("warning", f"{text} ({place})" if place else text, "bundle")

    def mistakes(self, prepared: PreparedBundle) -> None:
        """Say what of a bundle does not count or makes no sense."""
        # Imported when the session is on screen already.
        from amplifier_tui.foundation.checks.ignored import ignored_of

        self.problems(ignored_of(prepared.bundle))


def session_opened(
    parts: SessionParts, facts: ProviderFacts, *, resumed: bool, earlier: int, failed: str
) -> SessionOpened:
    """Return the event that says a session is ready.

    Args:
        facts: Which model answers.
        earlier: Stored rows that were not told.
        failed: The last prompt, where its turn failed.
    """
    store = parts.sender.store
    examples = section_of(parts.plan, "session").get("examples")
    return SessionOpened(
        **parts.sender.stamp(),
        bundle=parts.bundle,
        of_project=parts.of_project,
        gone=parts.gone if resumed else "",
        cwd=str(parts.workspace),
        directory=str(store.folder),
        **store.called(),
        first_prompt=store.redactor.text(store.metadata.first_prompt),
        provider=facts.name,
        model=facts.model,
        context_window=facts.window,
        resumed=resumed,
        earlier=earlier,
        examples=tuple(str(text) for text in examples) if isinstance(examples, list) else (),
        branch=git_branch(parts.workspace),
        draft=store.draft.load(),
        failed=failed,
    )


def why_no_provider(parts: SessionParts, prepared: PreparedBundle) -> tuple[str, str]:
    """Return that nobody would answer and why, and what to do about it."""
    missing = parts.facts.missing()
    providers = (each for each in prepared.refused if each.kind == "provider")
    refused = next((each for each in providers if not each.agent), None)
    remedy = refused.remedy if refused is not None else no_provider_remedy(missing)
    reason = f": {refused.reason}" if refused is not None else ""
    failed = [each for each in parts.facts.failed if each.kind == "provider" and each.error]
    if refused is None and not missing and failed:
        # It has one, of which was said what is wrong with it.
        reason = f": {failed[0].module_id} failed"
        remedy = failed[0].remedy or f"Correct {failed[0].module_id}, or open the demo bundle."
    return f"The bundle {parts.bundle} has no provider that is ready{reason}", remedy


def say_no_provider(parts: SessionParts, prepared: PreparedBundle) -> None:
    """Say that nobody would answer, and what to do about it."""
    message, remedy = why_no_provider(parts, prepared)
    parts.sender.send(
        Failed(
            **parts.sender.stamp(),
            kind="no_provider",
            message=message,
            remedy=remedy,
            missing=parts.facts.missing(),
        )
    )
