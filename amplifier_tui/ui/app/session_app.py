"""What the actions of `ui/keys/actions.py` do to the session, and the dialogs they open.

Dialogs are pushed with a callback from here, by the app: a callback that belongs to a widget
would be lost with the widget.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.app import App, SuspendNotSupported

from amplifier_tui.ui.app.themes import Roles, ThemeError, build_theme, find_theme
from amplifier_tui.ui.keys.actions import BY_ID, BY_SLASH
from amplifier_tui.ui.keys.keymap import Keymap
from amplifier_tui.ui.terminal.leave import Farewell

if TYPE_CHECKING:
    from amplifier_tui.host.client import SessionClient
    from amplifier_tui.ui.app.main_screen import MainScreen
    from amplifier_tui.ui.app.preferences import Preferences
    from amplifier_tui.ui.session.approval_queue import ApprovalDesk
    from amplifier_tui.ui.session.link import SessionLink
    from amplifier_tui.ui.state.conversation.entries import ErrorEntry
    from amplifier_tui.ui.state.session import SessionState


class AppActions(App[Farewell]):
    """The actions; `AmplifierApp` adds the life of the program."""

    main: MainScreen
    cwd: Path
    """The user's working directory."""
    preferences: Preferences
    keymap: Keymap
    themes: dict[str, Roles]
    """By name; filled after the first frame."""
    theme_errors: list[str]
    state: SessionState | None = None
    """What the screen shows; None until the first frame is out."""
    client: SessionClient | None = None
    """None until it is connected."""
    link: SessionLink | None = None
    """Joins client and state; None until both are there."""
    early: list[tuple[str, bool]]
    """What was sent before that, each with whether it is to be queued."""

    @property
    def desk(self) -> ApprovalDesk | None:
        """The approval requests."""
        return self.link.desk if self.link is not None else None

    def say(self, text: str, level: Literal["info", "warning", "error"] = "info") -> None:
        """Show a line in the status bar and keep it in the notice history."""
        if self.state is not None:
            from amplifier_tui.host.events import Notice

            self.main.show(self.state.apply([Notice(session_id="", level=level, text=text)]))

    def _session(self) -> tuple[SessionClient, SessionState] | None:
        if self.client is None or self.state is None:
            self.bell()
            return None
        return self.client, self.state

    def _in_session(self) -> tuple[SessionClient, SessionState] | None:
        """Return what `_session` does, but only while a session is open; else say so."""
        ready = self._session()
        if ready is not None and not ready[1].facts.opened:
            self.say("No session is open.", "warning")
            return None
        return ready

    # --- running actions by name -----------------------------------------------------------

    async def run_by_id(self, action_id: str, argument: str = "") -> None:
        """Run an action of the table, as a chord, the palette or a slash command does."""
        action = BY_ID[action_id]
        namespace, _, name = action.run.rpartition(".")
        node = self.main if namespace == "screen" else self
        if argument and action.takes:
            getattr(node, f"action_{name}")(argument)
        else:
            await self.run_action(name, default_namespace=node)

    async def run_slash(self, text: str) -> bool:
        """Run a slash command.

        Returns:
            False when the text is none, or has to wait for the session, and is to be sent as it
            is.
        """
        name, _, argument = text[1:].strip().partition(" ")
        if "/" in name or "\n" in text.strip() or not name.replace("-", "").isalpha():
            return False
        action = BY_SLASH.get(name)
        if action is None:
            self.main.prompt.restore(text)
            self.say(f"There is no command /{name}; / lists them.", "warning")
            return True
        if action.in_session and (self.link is None or self.link.opening):
            return False
        await self.run_by_id(action.id, argument.strip())
        return True

    async def send(self, text: str, *, queue: bool) -> None:
        """Run a slash command, or give the session a prompt.

        Args:
            text: What was sent.
            queue: Send it after the running turn instead of steering it.
        """
        if text.startswith("/") and await self.run_slash(text):
            return
        if self.link is None:
            self.early.append((text, queue))
        elif not self.link.submit(text, queue=queue):
            self.main.prompt.restore(text)
            return
        self.main.action_bottom()

    def action_leader(self) -> None:
        """Wait for the second key of a chord."""
        from amplifier_tui.ui.dialogs.leader import LeaderPopup

        async def chosen(action_id: str | None) -> None:
            self.main.prompt.input.in_chord = False
            await self._run_chosen(action_id)

        self.push_screen(LeaderPopup(self.keymap), chosen)

    def action_palette(self) -> None:
        """Open the command palette."""
        from amplifier_tui.ui.dialogs.palette import Palette

        self.push_screen(Palette(self.keymap), self._run_chosen)

    def action_help(self) -> None:
        """Show every key and command."""
        from amplifier_tui.ui.dialogs.help import Help

        self.push_screen(Help(self.keymap), self._run_chosen)

    async def _run_chosen(self, action_id: str | None) -> None:
        if action_id is not None:
            await self.run_by_id(action_id)

    # --- session ---------------------------------------------------------------------------

    def action_bundles(self, name: str = "") -> None:
        """Switch to a bundle, or open the picker."""
        ready = self._session()
        if ready is None:
            return
        client = ready[0]
        if name:
            client.switch_bundle(name)
            return
        from amplifier_tui.ui.dialogs.bundle_picker import BundlePicker, BundleQuestions

        picker = BundlePicker(BundleQuestions(client.bundles, client.preview))

        def chosen(name: str | None) -> None:
            if name is not None:
                client.switch_bundle(name, carry=picker.carry)

        self.push_screen(picker, chosen)

    def action_sessions(self, session_id: str = "") -> None:
        """Resume a session, or open the picker."""
        ready = self._session()
        if ready is None:
            return
        client, state = ready
        if session_id:
            client.resume(session_id)
            return
        from amplifier_tui.ui.dialogs.session_picker import SessionPicker

        current = state.facts.session_id

        def chosen(found: str | None) -> None:
            if found is not None and found != current:
                client.resume(found)

        self.push_screen(SessionPicker(client.sessions, current), chosen)

    def action_new_session(self) -> None:
        """Open an empty session with the same bundle."""
        ready = self._session()
        if ready is not None:
            client, state = ready
            client.switch_bundle(state.facts.bundle, carry=False)

    def action_demo(self) -> None:
        """Open the offline demo in a session of its own."""
        ready = self._session()
        if ready is not None:
            from amplifier_tui.host.client import OpenRequest

            ready[0].open(OpenRequest(cwd=self.cwd, demo=True))

    def action_rename(self, title: str = "") -> None:
        """Give the session a title."""
        ready = self._session()
        if ready is None:
            return
        client, state = ready

        def named(text: str | None) -> None:
            if text:
                client.rename(text)
                state.facts.set_title(text)
                self.main.show([])

        if title:
            named(title)
            return
        from amplifier_tui.ui.dialogs.ask_line import AskLine

        self.push_screen(AskLine("Title of this session", state.facts.title), named)

    # --- turn ------------------------------------------------------------------------------

    def action_retry(self) -> None:
        """Go on with the prompt that failed last."""
        if self.state is not None:
            self.retry(self.state.conversation.failures.newest)

    def action_retry_without(self) -> None:
        """Go on with the prompt that failed last, without the context source that failed."""
        if self.state is None:
            return
        failed = self.state.conversation.failures.newest
        if failed is not None and failed.source:
            self.retry(failed, failed.source)
        else:
            self.say("No source of the context has failed.")

    def retry(self, failed: ErrorEntry | None, without: str = "") -> None:
        """Go on with the prompt of a failure; one the session did not take is sent again.

        Args:
            failed: The failure; None leaves it to the session what there is to go on with.
            without: The context source to leave out.
        """
        ready = self._session()
        if ready is None:
            return
        client, state = ready
        if state.activity.running:
            self.say("A turn is running.")
            return
        draft = self.main.prompt.input
        if failed is not None and failed.prompt and draft.draft == failed.prompt:
            # It was given back to the draft when it failed.
            draft.clear_draft()
        if failed is not None and failed.prompt and not failed.taken:
            if self.link is not None and not self.link.submit(failed.prompt, queue=False):
                self.main.prompt.restore(failed.prompt)
        elif not state.facts.opened:
            self.say("There is nothing to try again.")
        else:
            client.retry(without=without)

    def action_unqueue(self) -> None:
        """Take the last queued prompt back into the draft."""
        ready = self._session()
        if ready is None:
            return
        client, state = ready
        items = state.queue.items
        if not items:
            self.say("Nothing is queued.")
        elif self.main.prompt.input.text:
            self.say("Send or clear the draft first.")
        else:
            client.unqueue(len(items) - 1)
            self.main.prompt.restore(items[-1])

    def action_approvals(self) -> None:
        """Show the oldest request that waits for the user."""
        if self.desk is None or not self.desk.show():
            self.say("Nothing waits for you.")

    # --- conversation ----------------------------------------------------------------------

    def action_copy_answer(self) -> None:
        """Copy the agent's last words."""
        if self.state is None:
            return
        from amplifier_tui.ui.state.conversation.entries import TextEntry

        entries = reversed(self.state.entries)
        last = next((e for e in entries if isinstance(e, TextEntry) and e.text), None)
        if last is None:
            self.say("There is no answer to copy yet.")
        else:
            self.copy(last.text, "answer")

    def copy_to_clipboard(self, text: str) -> None:
        """Copy by the terminal's own way, and by every other one there is."""
        super().copy_to_clipboard(text)
        if self.is_headless:
            return
        from amplifier_tui.ui.terminal import clipboard, guard

        if os.environ.get("TMUX"):
            guard.write(self, clipboard.tmux_passthrough(text))
        command = clipboard.native_command(os.environ)
        if command is not None:
            self.run_worker(asyncio.to_thread(clipboard.copy_natively, command, text))

    def copy(self, text: str, what: str) -> None:
        """Put text on the clipboard and say so."""
        self.copy_to_clipboard(text)
        self.say(f"Copied the {what}, {len(text):,} characters.")

    def action_plan(self) -> None:
        """Show the agent's plan."""
        if self.state is not None:
            from amplifier_tui.ui.dialogs.plan import PlanSheet

            self.push_screen(PlanSheet(self.state.todo.items))

    def action_notices(self) -> None:
        """Show what the status bar has said."""
        if self.state is None:
            return
        from amplifier_tui.ui.dialogs.notices import NoticeHistory

        history = list(self.state.notices.history)

        def chosen(index: str | None) -> None:
            if index is not None:
                self.copy(history[int(index)].notice.text, "notice")

        self.push_screen(NoticeHistory(history), chosen)

    # --- prompt ----------------------------------------------------------------------------

    def action_search_history(self) -> None:
        """Look for an earlier prompt and put it into the draft."""
        from amplifier_tui.ui.dialogs.history_picker import HistoryPicker

        prompt = self.main.prompt.input
        items = prompt.past.items

        def chosen(index: str | None) -> None:
            if index is not None:
                prompt.set_draft(items[int(index)])

        query = " ".join(prompt.text.split())[:80]
        self.push_screen(HistoryPicker(items, query), chosen)

    def action_editor(self) -> None:
        """Write the draft in the user's editor."""
        from amplifier_tui.ui.prompt.editor import EditorError, edit_text

        prompt = self.main.prompt.input
        try:
            with self.suspend():
                text = edit_text(prompt.draft)
        except SuspendNotSupported:
            self.say("This terminal cannot be handed to an editor.", "warning")
        except EditorError as error:
            self.say(str(error), "warning")
        else:
            prompt.set_draft(text)
        prompt.focus()

    # --- theme -----------------------------------------------------------------------------

    def action_themes(self, name: str = "") -> None:
        """Put a theme in force, or open the picker."""
        if name:
            self.choose_theme(name)
            return
        from amplifier_tui.ui.dialogs.theme_picker import ThemePicker

        def chosen(found: str | None) -> None:
            if found is not None:
                self.choose_theme(found)

        themes = [self.themes[name] for name in sorted(self.themes)]
        picker = ThemePicker(themes, self.theme_errors, self.theme, self.show_theme)
        self.push_screen(picker, chosen)

    def show_theme(self, name: str) -> None:
        """Put a theme in force without remembering it."""
        if name in self.themes and name != self.theme:
            self.theme = name

    def choose_theme(self, name: str) -> None:
        """Put a theme in force and remember it."""
        try:
            roles = self.themes.get(name) or find_theme(name)
        except ThemeError as error:
            self.say(str(error), "warning")
            return
        self.add_theme(roles)
        self.theme = name
        try:
            self.preferences.set_theme(name, {**roles, "dark": bool(roles["dark"])})
        except OSError as error:
            self.say(f"The theme is not remembered: {error}", "warning")

    def add_theme(self, roles: Roles) -> None:
        """Make a theme known to Textual."""
        self.themes[roles["name"]] = roles
        self.register_theme(build_theme(roles))
