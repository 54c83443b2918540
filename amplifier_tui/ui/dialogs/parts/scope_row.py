"""How long a grant holds, the rule that is kept of it, and what that would have allowed."""

import asyncio
from concurrent.futures import Future

from textual import events
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Static

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.text import one_line, reveal
from amplifier_tui.host.events import ApprovalRequested, Scope
from amplifier_tui.ui.state.formats import plural, short_path

SCOPES: dict[Scope, str] = {
    "once": "just now",
    "session": "this session",
    "project": "this project",
    "always": "everywhere",
}
_MEANING = 120
"""Most characters of what a rule speaks of."""
_WITH_NETWORK = " · with the network"
"""Behind a rule that gives commands what the sandbox keeps from them."""
_MANY = 99
"""Room is kept for as many calls."""


class ScopeRow(Static):
    """Offers the scopes of a request, one of which is chosen; a rule too long has a row below.

    Args:
        scope: The one that is chosen at first, if the request offers it.

    Attributes:
        scope: The one that is chosen.
        offered: There is more than one.
    """

    class Picked(Message):
        """A scope was clicked."""

        def __init__(self, scope: Scope) -> None:
            super().__init__()
            self.scope = scope

    def __init__(self, request: ApprovalRequested, scope: Scope, id: str) -> None:
        super().__init__(id=id)
        self._request = request
        self._reach: int | None = None
        self._shown = (False, 0, False)
        self.offered = len(request.scopes) > 1 and request.risk != "critical"
        self.scope: Scope = scope if self.offered and scope in request.scopes else "once"

    def on_click(self, event: events.Click) -> None:
        """Tell which scope was clicked."""
        found = event.style.meta.get("scope")
        scope = next((each for each in self._request.scopes if each == found), None)
        if scope is not None:
            event.stop()
            self.post_message(self.Picked(scope))

    def cycle(self) -> None:
        """Choose the next one."""
        scopes = self._request.scopes
        self.scope = scopes[(scopes.index(self.scope) + 1) % len(scopes)]

    def count(self, asked: Future[int]) -> None:
        """Say, once that is known, how many earlier calls the rule would also have allowed."""
        self.run_worker(self._count(asked))

    async def _count(self, asked: Future[int]) -> None:
        try:
            self._reach = await asyncio.wrap_future(asked)
        except Exception as error:
            # The question stands all the same; it says nothing of earlier calls then.
            self.log.warning(f"The calls a rule would have allowed were not counted: {error}")
        else:
            withheld, width, brief = self._shown
            self.show(withheld, width, brief=brief)

    def show(self, withheld: bool, width: int, *, brief: bool) -> None:
        """Draw it for so many cells.

        Args:
            withheld: The payload was not seen to its end.
            brief: Name only the scope that is chosen, and the rule once something is to be
                remembered: rows are few.
        """
        self._shown = withheld, width, brief
        self.update(self._content_for(withheld, width, self._reach, brief))

    @property
    def names_rule(self) -> bool:
        """Whether what it draws has the rule, and all of what that speaks of."""
        withheld, _, brief = self._shown
        request = self._request
        if not self.offered or withheld or (brief and self.scope == "once"):
            return False
        shown = 0 if request.payload_kind == "command" else _MEANING
        return len(request.meaning) <= shown or request.meaning == request.rule

    def rows(self, width: int, *, brief: bool = False) -> int:
        """Return how many rows it needs once it is offered, with room for a count to come."""
        reach = _MANY if self._reach is None else self._reach
        content = self._content_for(False, width, reach, brief)
        return len(content.wrap(width)) if content else 0

    def _content_for(self, withheld: bool, width: int, reach: int | None, brief: bool) -> Content:
        request = self._request
        if not self.offered:
            return Content()
        brief = brief and not withheld
        # Of a denial nothing is kept. What there is room for in 80 columns has no wider gaps.
        parts = [Content.styled("remember a yes", "$text-muted")]
        for each in (self.scope,) if brief else request.scopes:
            mark, style = ("●", "") if each == self.scope else ("○", "$text-muted")
            # No row ends between a mark and its words.
            words = Content.styled(f"{mark} {SCOPES[each]}".replace(" ", "\xa0"), style)
            parts.append(words.stylize(Style.from_meta({"scope": each})))
        if brief:
            parts.append(Content.styled("○\xa0…", "$text-muted"))
            if self.scope == "once":
                return Content("  ").join(parts)
        offer = Content("  ").join(parts)
        first = Content.styled("remember …   read it to the end", "$text-muted")
        if not request.rule:
            return first if withheld else offer
        rule = Content.assemble(("rule ", "$text-muted"), reveal(request.rule).replace("\n", " "))
        if request.meaning not in ("", request.rule) and request.payload_kind != "command":
            # What a pattern of paths speaks of is not as plain as the beginning of a command.
            means = (f" ({one_line(request.meaning, _MEANING)})", "$text-muted")
            rule = Content.assemble(rule, means)
        if request.network:
            rule = Content.assemble(rule, (_WITH_NETWORK, "$text-warning"))
        # Where the rule stands does not change when the end was seen, or the calls are counted.
        room = offer.cell_length + 3 + rule.cell_length + _reach_words(_MANY).cell_length
        gap = "   " if room <= width else "\n"
        said = Content.assemble(first if withheld else offer, gap, rule)
        # Whatever the count will be, for the sake of its words alone there is no row more.
        whole = said + _reach_words(_MANY)
        brief = len(whole.wrap(width)) > len(said.wrap(width))
        more = [_reach_words(reach, brief=brief)] if reach is not None else []
        if self.scope in ("project", "always") and request.kept_in:
            path = short_path(one_line(request.kept_in), str(user_home()))
            more.append(Content.styled(f" · kept in {path}", "$text-muted"))
        return Content.assemble(said, *more)


def _reach_words(count: int, *, brief: bool = False) -> Content:
    noun = "other call" if brief else "call"
    calls = plural(count, noun) if count else f"no {noun}"
    # Here, whatever the scope: other projects were not looked at.
    words = (
        f" · {calls} in 30 days" if brief else f" · would also have allowed {calls} here in 30 days"
    )
    return Content.styled(words, "$text-muted")
