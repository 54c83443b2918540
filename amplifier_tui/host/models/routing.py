"""Which model answers: the one the user chose, whatever an orchestrator asks for by default."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import field, replace
from functools import partial
from typing import Any, Final

from pydantic import BaseModel

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.client import ModelChoice
from amplifier_tui.host.events import MAIN_LANE
from amplifier_tui.host.session.modules.facts import ProviderFacts, described
from amplifier_tui.host.stand_in import StandIn, StandIns, real
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.correlation import is_aside
from amplifier_tui.kernel.mounting.contents import checked_calls, checked_response
from amplifier_tui.kernel.mounting.schemas import check_sendable
from amplifier_tui.kernel.utils.request_tokens import request_tokens

NO_CHOICE: Final = ModelChoice()

Around = Callable[[Any, Any, str], AbstractAsyncContextManager[None]]
"""Stands around a request; gets it, the provider it goes to, and the lane it comes from."""


@dataclass(slots=True)
class ModelRoute:
    """Where the requests of a session and of its sub-agents go.

    Attributes:
        choice: What the user chose; empty where nothing was chosen.
        around: What stands around each request, and may hold it back.
        switching: Held while another model is looked up, for which requests wait.
        learned: What providers list of models whose window they do not tell with their defaults,
            by provider and model.
        requests: Returns how many requests a provider has told of with an event, by lane.
        responses: The same for answers.
        returned: Told of an answer that its provider said nothing of: the lane, and what an event
            would have said.
        asked: By lane, the provider that its last request went to: the orchestrator knows its own
            only.
        named: By lane, the model that its last request named; empty where it named none.
    """

    choice: ModelChoice = NO_CHOICE
    around: Around = lambda *_: nullcontext()
    requests: Callable[[str], int] = lambda _: 0
    responses: Callable[[str], int] = lambda _: 0
    returned: Callable[[str, dict[str, Any]], None] = lambda *_: None
    switching: asyncio.Lock = field(default_factory=asyncio.Lock)
    learned: dict[tuple[str, str], ProviderFacts] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)

    def facts_of(
        self, name: str, provider: Any, choice: ModelChoice = NO_CHOICE, info: Any = None
    ) -> ProviderFacts:
        """Return the limits of the model that a provider answers with.

        Args:
            name: What the provider is mounted under.
            choice: What was chosen of it.
            info: What it says of itself, if that is at hand.
        """
        own = described(name, provider, info)
        model = choice.model or own.model
        chosen = ProviderFacts(name, model, choice.context_window, choice.max_output_tokens)
        learned = self.learned.get((name, model), ProviderFacts())
        # The settings of a provider are about its own model, whose limits may be others by now.
        told = (own, chosen, learned) if model == own.model else (chosen, learned, own)
        window = next((each.window for each in told if each.window), 0)
        reserve = next((each.reserve for each in told if each.reserve), 0)
        return ProviderFacts(name, model, window, reserve)

    def stand_before(
        self,
        coordinator: ModuleCoordinator,
        lane: str = MAIN_LANE,
        *,
        follows: bool = True,
        preferred: Mapping[str, str] | None = None,
    ) -> None:
        """Route the requests of a session, from before its first module is mounted.

        Args:
            lane: The agent whose session it is.
            follows: Whether the user's choice counts in it: not in a sub-agent that has a model
                of its own.
            preferred: The models of its own, by what their providers are mounted under.
        """
        points = coordinator.mount_points
        place = _Lane(self, lane, follows, points, preferred or {})
        place.mounted = points["providers"] = StandIns(
            partial(RoutedProvider, place), points.get("providers") or {}
        )


@dataclass(slots=True)
class _Lane:
    route: ModelRoute
    name: str
    follows: bool
    points: Mapping[str, Any]
    preferred: Mapping[str, str]
    mounted: Mapping[str, Any] = field(default_factory=dict)

    def target(self, name: str, own: Any) -> tuple[Any, ModelChoice]:
        """Return the provider that answers in place of another, and what was chosen of it.

        A model that is preferred is in its settings. Where it answers with another all the same,
        the request names it.
        """
        choice = self.route.choice if self.follows else NO_CHOICE
        if not choice.provider:
            wanted = self.preferred.get(name, "")
            honoured = not wanted or described(name, own).model == wanted
            return own, replace(choice, model="" if honoured else wanted)
        chosen = self.mounted.get(choice.provider)
        # It may have been taken out of the session since.
        return (own, NO_CHOICE) if chosen is None else (real(chosen), choice)


class RoutedProvider(StandIn):
    """Stands for a provider, which answers unless the user chose another."""

    __slots__ = ("_answered", "_lane", "_name", "answered_as")

    answered_as: tuple[str, str | None] | None
    """What the provider of the last request is mounted under, and its model; None before one."""

    def __init__(self, lane: _Lane, name: str, provider: Any) -> None:
        super().__init__(provider)
        object.__setattr__(self, "_lane", lane)
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_answered", provider)
        object.__setattr__(self, "answered_as", None)

    def get_info(self) -> Any:
        """Describe the provider that answers; the defaults are those of the model it answers with.

        What it does not tell of its own model is what it lists of it, once that is known.
        """
        target, choice = self._lane.target(self._name, self._other)
        info = target.get_info()
        if not isinstance(info, BaseModel):
            return info
        name = choice.provider or self._name
        facts = self._lane.route.facts_of(name, target, choice, info)
        if not choice.model and (name, facts.model) not in self._lane.route.learned:
            return info
        told = {
            "model": facts.model,
            "context_window": facts.window,
            "max_output_tokens": facts.reserve,
        }
        known = {name: value for name, value in told.items() if value}
        return info.model_copy(update={"defaults": {**getattr(info, "defaults", {}), **known}})

    @property
    def answers_as(self) -> str:
        """What the provider that answers the next request is mounted under."""
        return self._named(*self._lane.target(self._name, self._other))

    def _named(self, target: Any, choice: ModelChoice) -> str:
        return self._name if target is self._other else choice.provider

    async def complete(self, request: Any, **more: Any) -> Any:
        """Have a request answered; one that names a model itself goes where it was to go."""
        check_sendable(getattr(request, "tools", None) or (), self._lane.points.get("tools") or {})
        async with self._lane.route.switching:
            target, choice = self._lane.target(self._name, self._other)
        if more.get("model") or getattr(request, "model", None):
            target, choice = self._other, NO_CHOICE
        name = self._named(target, choice)
        if not is_aside():
            # Another one may be chosen before the answer is there.
            asked = more.get("model") or getattr(request, "model", None)
            model = asked or self._lane.route.facts_of(name, target, choice).model or None
            object.__setattr__(self, "answered_as", (name, model))
        wanted = {"model": choice.model, "reasoning_effort": choice.effort}
        # Providers read the request, keyword arguments, or both.
        changes = {name: value for name, value in wanted.items() if value and name not in more}
        if changes and isinstance(request, BaseModel):
            request = request.model_copy(update=changes)
        lane = self._lane
        async with lane.route.around(request, target, lane.name):
            if not is_aside():
                object.__setattr__(self, "_answered", target)
                lane.route.asked[lane.name] = name
                lane.route.named[lane.name] = choice.model
            sent, told = lane.route.requests(lane.name), lane.route.responses(lane.name)
            try:
                response = await target.complete(request, **changes, **more)
            except asyncio.CancelledError:
                under_way = lane.route.requests(lane.name) > sent
                if under_way and lane.route.responses(lane.name) == told:
                    read = {"input_tokens": request_tokens(request)}
                    lane.route.returned(lane.name, {"status": "cancelled", "usage": read})
                raise
            response = checked_response(target, response)
            if lane.route.responses(lane.name) == told:
                lane.route.returned(lane.name, _as_event(response, name))
            return response

    def parse_tool_calls(self, response: Any) -> Any:
        """Return the tool calls of a response, as the provider that gave it reads them."""
        return checked_calls(self._answered, self._answered.parse_tool_calls(response))


def is_another(wanted: str, model: str) -> bool:
    """Whether a model that answered is not the wanted one.

    A name may be short for another one, as that of a model without its date.
    """
    short, long = (each.rpartition("/")[2].lower() for each in (wanted, model))
    known = wanted and model and "latest" not in short
    return bool(known) and short not in long and long not in short


def _as_event(response: Any, provider: str) -> dict[str, Any]:
    usage = getattr(response, "usage", None)
    return {
        "provider": provider,
        "model": getattr(response, "model", None),
        "usage": usage.model_dump() if isinstance(usage, BaseModel) else usage,
    }
