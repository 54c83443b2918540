"""What a session may use: asked about before it is passed, by the session or a sub-agent."""

import asyncio
from collections.abc import AsyncIterator, Callable, Container, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Literal, NamedTuple
from uuid import uuid4

from amplifier_tui.base.prices import list_prices, price_at
from amplifier_tui.foundation.settings.settings import Settings
from amplifier_tui.host.client import OpenRequest, SpendLimit
from amplifier_tui.host.events import MAIN_LANE, LimitAsked, LimitChanged, LimitResolved
from amplifier_tui.host.models.info import info_of, model_info
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.stream.usage import Count, UsageMeter
from amplifier_tui.kernel import capabilities
from amplifier_tui.kernel.correlation import is_aside
from amplifier_tui.kernel.llm_errors import AbortError
from amplifier_tui.kernel.utils.request_tokens import request_tokens

NO_LIMIT: Final = SpendLimit()
_FIRST_ANSWER: Final = 1_000
"""Tokens an answer is expected to have while none has come."""
_PATIENCE: Final = 3.0
"""Seconds a request waits for the prices of its model."""
_LOOKING_AHEAD: Final = 20.0
"""The same, while nothing is held up."""
_IN_TOKENS: Final = "One in tokens does, /limit 200k; in a run --max-turns"
_MILLION: Final = 1_000_000


_Answer = Literal["go", "stop", "look again", "withdrawn"]


class Spent(NamedTuple):
    """Tokens and dollars; `cost` is None where it is not known."""

    tokens: int
    cost: Decimal | None


class SpendGuard:
    """Asks before a request that may pass the limit, and holds it back until the user answers.

    Args:
        usage: What was used so far, by sub-agents too.
    """

    def __init__(self, sender: Sender, usage: UsageMeter) -> None:
        self.limit = NO_LIMIT
        self.requests_left: int | None = None
        """How many requests may still be sent; None for any number."""
        self.stop: Callable[[], object] = lambda: None
        """Stops the turn."""
        self._sender = sender
        self._usage = usage
        self._one_by_one = asyncio.Lock()
        self._answer: asyncio.Future[_Answer] | None = None
        self._asked = self._lane = ""
        self._flying: dict[str, Spent] = {}
        """What requests that were not answered yet are expected to use."""
        self._factors: dict[str, float] = {}
        """By lane, how many tokens its provider counts for one of ours."""
        self._told: set[str] = set()
        self._looking: asyncio.Task[None] | None = None

    def begin(self, limit: SpendLimit) -> None:
        """Take a limit, without a word."""
        self.limit = limit
        found = {"cost": limit.cost, "tokens": limit.tokens}
        self._sender.store.metadata.limit = {key: value for key, value in found.items() if value}

    def set(self, limit: SpendLimit, model: str = "") -> None:
        """Take another limit; what waits is looked at again.

        Args:
            model: The one that answers next; empty for the one that answered last.
        """
        self.begin(limit)
        # Whoever sets a limit is told anew what it is worth.
        self._told.clear()
        self._sender.store.save_metadata()
        self.tell()
        answered, last = self._last(MAIN_LANE)
        if limit.cost and last is not None and last.cost is None and _same(model, answered):
            self._say_unknown(self._usage.model)
        self._settle("look again")

    def look_ahead(self, model: str, provider: Any) -> None:
        """Look up whether a price is known for a limit in dollars, before anything was answered."""
        self.forget()
        if self._awaits_price(model) and model and provider is not None:
            self._looking = asyncio.get_running_loop().create_task(
                self._say_unlisted(model, provider)
            )

    def forget(self) -> None:
        """Look up no price any more."""
        if self._looking is not None:
            self._looking.cancel()

    def _awaits_price(self, model: str) -> bool:
        """Whether there is a limit in dollars, and no answer of a model has told what it costs."""
        answered, last = self._last(MAIN_LANE)
        return bool(self.limit.cost) and (last is None or not _same(model, answered))

    async def _say_unlisted(self, model: str, provider: Any) -> None:
        info = info_of(provider)
        try:
            async with asyncio.timeout(_LOOKING_AHEAD):
                own = await model_info(provider, model)
                if info is None or own is None or own.pricing is not None:
                    # Of one that is not listed, its provider may know the price all the same.
                    return
                found = await list_prices([(info.id, model)])
        except TimeoutError:
            return
        if not any(found.values()) and self._awaits_price(model) and model not in self._told:
            self._told.add(model)
            text = (
                f"No price of {model} is known: unless its answers tell one, a limit in dollars "
                f"does not hold. {_IN_TOKENS}"
            )
            self._sender.notice("warning", text, "limit", until="limit")

    def tell(self) -> None:
        """Say what the limit is."""
        stamp = self._sender.stamp()
        self._sender.send(LimitChanged(**stamp, cost=self.limit.cost, tokens=self.limit.tokens))

    def answer(self, request_id: str, *, go: bool) -> None:
        """Let the request that waits go, or stop the turn; one that is gone is ignored."""
        if request_id == self._asked:
            self._settle("go" if go else "stop")

    def withdraw(self, lanes: Container[str] | None = None) -> None:
        """Send nothing of what waits, of all lanes or some: it is being stopped."""
        if lanes is None or self._lane in lanes:
            self._settle("withdrawn")

    def _settle(self, answer: _Answer) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    @asynccontextmanager
    async def spending(self, request: Any, provider: Any, lane: str) -> AsyncIterator[None]:
        """Stand around a request.

        Raises:
            AbortError: The user stopped at the limit.
        """
        if self.requests_left is not None and not is_aside():
            if self.requests_left < 1:
                self.stop()
                raise AbortError("No more requests may be sent", retryable=False)
            self.requests_left -= 1
        if self.limit == NO_LIMIT:
            yield
            return
        size = request_tokens(request)
        expected = await self._expected(request, size, provider, lane)
        async with self._one_by_one:
            await self._ask_if_it_passes(expected, lane)
            key = uuid4().hex
            self._flying[key] = expected
        try:
            yield
        finally:
            del self._flying[key]
        if not is_aside() and size and (last := self._usage.last.get(lane)) is not None:
            self._factors[lane] = max(1.0, last.input_tokens / size)
        # Not before the first answer: some APIs tell prices that no list has.
        self._look_at_price(lane)

    async def _ask_if_it_passes(self, expected: Spent, lane: str) -> None:
        while self._passes(expected):
            if is_aside(optional=True):
                raise AbortError("The limit of this session is reached", retryable=False)
            answer = await self._ask(expected, lane)
            if answer == "go":
                return
            if answer != "look again":
                if answer == "stop":
                    self.stop()
                raise AbortError("Stopped at the limit of this session", retryable=False)

    def _used(self) -> Spent:
        used = self._usage.session
        tokens = used.input_tokens + used.output_tokens
        flying = self._flying.values()
        costs = [used.cost, *(each.cost for each in flying)]
        return Spent(
            tokens + sum(each.tokens for each in flying),
            sum((cost for cost in costs if cost is not None), Decimal(0)),
        )

    def _passes(self, expected: Spent) -> bool:
        used, limit = self._used(), self.limit
        most = read_amount(limit.cost)
        if limit.tokens and used.tokens + expected.tokens > limit.tokens:
            return True
        if most is None:
            return False
        # Of a price nobody knows, only what was spent already counts.
        spent = used.cost or Decimal(0)
        return spent + (expected.cost or Decimal(0)) > most or spent >= most

    async def _ask(self, expected: Spent, lane: str) -> _Answer:
        used = self._used()
        self._asked, self._lane = uuid4().hex[:12], lane
        self._answer = asyncio.get_running_loop().create_future()
        self._sender.send(
            LimitAsked(
                **self._sender.stamp(lane),
                request_id=self._asked,
                cost=self.limit.cost,
                tokens=self.limit.tokens,
                used_cost=_text(used.cost),
                used_tokens=used.tokens,
                next_cost=_text(expected.cost),
                next_tokens=expected.tokens,
            )
        )
        try:
            return await self._answer
        finally:
            self._answer = None
            self._sender.send(LimitResolved(**self._sender.stamp(lane), request_id=self._asked))

    async def _expected(self, request: Any, size: int, provider: Any, lane: str) -> Spent:
        """What a request will use, about: its size, and an answer like those before."""
        answer = self._usage.average_output or _FIRST_ANSWER
        size = round(size * self._factors.get(lane, 1.0))
        model, (answered, last) = _model(request, provider), self._last(lane)
        if last is None or not _same(model, answered):
            return Spent(size + answer, await self._listed(model, provider, size, answer))
        if last.cost is None:
            # Its answers come without a price: what a list says would stop at a limit that what
            # was used never reaches.
            self._look_at_price(lane)
            return Spent(size + answer, None)
        # What is cached costs less; the request before knows how much.
        rate = last.cost / max(1, last.input_tokens + last.output_tokens)
        return Spent(size + answer, rate * (size + answer))

    def _last(self, lane: str) -> tuple[str, Count | None]:
        """The model of a lane's last answer, else of the session's, and what that used."""
        lane = lane if lane in self._usage.last else MAIN_LANE
        return self._usage.models.get(lane, ""), self._usage.last.get(lane)

    def _look_at_price(self, lane: str) -> None:
        """Say where a limit in dollars meets answers whose price is not known."""
        if is_aside():
            # The last answer is of another model, such as the session's own beside its title's.
            return
        answered, last = self._last(lane)
        if last is not None and last.cost is None and self.limit.cost:
            self._say_unknown(answered or self._usage.model)

    def _say_unknown(self, model: str) -> None:
        """Say, once, that what a model's answers cost is not known."""
        if model not in self._told:
            self._told.add(model)
            text = (
                f"A limit in dollars does not hold {model}, whose price is not known. {_IN_TOKENS}"
            )
            self._sender.notice("warning", text, "limit", until="limit")

    async def _listed(self, model: str, provider: Any, size: int, answer: int) -> Decimal | None:
        info = info_of(provider)
        if info is None:
            return None
        try:
            async with asyncio.timeout(_PATIENCE):
                own = await model_info(provider, model)
                if own is not None and (price := own.pricing) is not None:
                    return _paid(price.input_per_million, price.output_per_million, size, answer)
                if capabilities.LOCAL in {*info.capabilities, *(own.capabilities if own else ())}:
                    return None
                found = await list_prices([(info.id, model)])
        except TimeoutError:
            return None
        listed = price_at(next(iter(found.values()), ()), size)
        return None if listed is None else _paid(listed.input, listed.output, size, answer)


def _model(request: Any, provider: Any) -> str:
    """Return the model that a request goes to; empty where nobody says."""
    asked = getattr(request, "model", None)
    info = None if asked else info_of(provider)
    return str(asked or (info.defaults.get("model") if info is not None else "") or "")


def _same(asked: str, answered: str) -> bool:
    """Whether two names may be of one model: that of an answer often has a date at its end."""
    return asked.startswith(answered) or answered.startswith(asked)


def _paid(read: float | str, written: float | str, size: int, answer: int) -> Decimal:
    return (Decimal(str(read)) * size + Decimal(str(written)) * answer) / _MILLION


def read_amount(text: str) -> Decimal | None:
    """Return an amount of dollars above 0; None for what is none."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount > 0 else None


def first_limit(
    request: OpenRequest, stored: Mapping[str, Any], settings: Settings, sender: Sender
) -> SpendLimit:
    """Return the limit a session begins with: the user's, its own, or that of the settings.

    Args:
        stored: What it had when it was closed, or the one whose conversation it goes on with.
        settings: Of their scopes the lowest `max_cost` counts; what is wrong with it is said.
    """
    found = [scope.get("max_cost") for scope in settings.by_scope.values()]
    given = [value for value in found if value is not None]
    known = [amount for value in given if (amount := read_amount(str(value))) is not None]
    if len(known) < len(given):
        text = "`max_cost` must be an amount of dollars, such as 5"
        sender.notice("warning", text, "settings")
    allowed = SpendLimit(cost=format(min(known), "f")) if known else NO_LIMIT
    return request.limit or _stored_limit(stored) or allowed


def _stored_limit(stored: Mapping[str, Any]) -> SpendLimit | None:
    """Return the limit of a stored session, if it has one."""
    cost, tokens = stored.get("cost"), stored.get("tokens")
    limit = SpendLimit(
        cost=cost if isinstance(cost, str) and read_amount(cost) is not None else "",
        tokens=tokens if type(tokens) is int and tokens > 0 else 0,
    )
    return None if limit == NO_LIMIT else limit


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else format(amount, "f")
