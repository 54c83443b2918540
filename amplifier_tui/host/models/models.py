"""The models of a session: what its providers offer, which one answers, and how hard it thinks."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, Final

from amplifier_tui.base.prices import list_prices
from amplifier_tui.base.python import awaited, without_exit
from amplifier_tui.foundation.report import ReportItem
from amplifier_tui.host.client import ModelCard, ModelChoice
from amplifier_tui.host.events import MAIN_LANE, ModelChanged
from amplifier_tui.host.models.info import info_of, model_info
from amplifier_tui.host.models.naming import fitting_models, nearest_model, several_fit
from amplifier_tui.host.models.routing import NO_CHOICE, ModelRoute, is_another
from amplifier_tui.host.session.modules.facts import (
    ProviderFacts,
    answer_reserve,
    default_provider,
    described,
)
from amplifier_tui.host.stand_in import real
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.kernel import capabilities
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.correlation import aside
from amplifier_tui.kernel.message_models import ChatRequest, Message
from amplifier_tui.kernel.models import ModelInfo
from amplifier_tui.kernel.mounting.contents import place_of

logger = logging.getLogger(__name__)

LISTING: Final = 25.0
"""Seconds a provider has to list its models."""
REFUSED: Final = "model"
"""Source of the notice that says why another model does not answer."""
_SMALL: Final = 32
"""Most tokens of the answer that shows whether a key works."""
_EFFORT_FIELDS: Final = ("effort", "reasoning_effort")
_TAKES: Final = {
    capabilities.VISION: "images",
    capabilities.THINKING: "thinking",
    capabilities.TOOLS: "tools",
}


class Models:
    """Chooses the model of a session.

    Args:
        plan: The mount plan, which says which provider answers where nothing is chosen.
    """

    def __init__(
        self,
        coordinator: ModuleCoordinator,
        plan: Mapping[str, Any],
        route: ModelRoute,
        sender: Sender,
    ) -> None:
        self._coordinator = coordinator
        self._route = route
        self._sender = sender
        self._plan = plan
        self._default = default_provider(self._mounted(), plan).name
        self._asked: dict[tuple[str, str], Any] = {}
        """Providers that were asked for the window of a model, by their name and its."""
        self._learning = set[asyncio.Task[None]]()
        self._told = self.facts
        self._before: ModelChoice | None = None
        """What was chosen before a model that has not answered yet."""
        self._previous: ModelChoice | None = None
        """What `switch_back` goes to."""
        self._others = set[str]()
        """What was told of models that answered in place of chosen ones."""

    @property
    def facts(self) -> ProviderFacts:
        """What answers the next request."""
        choice, mounted = self._route.choice, self._mounted()
        if choice.provider in mounted and choice.model:
            return self._route.facts_of(choice.provider, mounted[choice.provider], choice)
        return self._own

    @property
    def provider(self) -> Any:
        """The provider that answers the next request; None where none is ready."""
        return self._mounted().get(self.facts.name)

    @property
    def _own(self) -> ProviderFacts:
        """What answers where nothing is chosen."""
        provider = self._mounted().get(self._default)
        if provider is None:
            return ProviderFacts()
        return self._route.facts_of(self._default, provider)

    def failed(self) -> str:
        """Go back, when asked to, to the model that answered before one that now failed.

        Returns:
            That model; empty where the one that failed has answered before.
        """
        if self._before is None:
            return ""
        self._previous = self._before
        return self._before.model or self._own.model or self._own.name

    def _key(self, choice: ModelChoice) -> tuple[str, str]:
        if choice.model:
            return choice.provider, choice.model
        own = self._own
        return own.name, own.model

    def _mounted(self) -> dict[str, Any]:
        found = self._coordinator.get("providers") or {}
        return {name: real(provider) for name, provider in found.items()}

    def begin(
        self,
        stored: Mapping[str, Any],
        remembered: ModelChoice,
        absent: Iterable[ReportItem] = (),
    ) -> None:
        """Take up what was chosen in this session before, else what the user chose elsewhere.

        Args:
            absent: What the session goes without; of a provider it says what that needs.
        """
        choice = _read(stored) if stored else self._without_limits(remembered)
        if choice.provider and choice.provider not in self._mounted():
            names = (choice.provider, f"provider-{choice.provider}")
            missing = next((each.missing for each in absent if each.what in names), ())
            remedy = "Choose another with /model"
            if missing:
                remedy = f"Set {' or '.join(missing)} to use it, or choose another with /model"
            why = f"the provider {choice.provider} is not mounted"
            self._sender.notice("warning", f"{choice.model} is not used: {why}. {remedy}")
            return
        self._take(choice)

    def _without_limits(self, choice: ModelChoice) -> ModelChoice:
        """Leave the limits of a provider's own model to its settings, which may be others now."""
        provider = self._mounted().get(choice.provider)
        if provider is None or described(choice.provider, provider).model != choice.model:
            return choice
        return replace(choice, context_window=0, max_output_tokens=0)

    def tell(self, *, chosen: bool = False, doubt: str = "") -> None:
        """Say which model answers, whether the user chose it just now, and what to doubt of it."""
        if chosen:
            self._sender.store.save_metadata()
        facts, mounted = self.facts, self.provider
        self._told = facts
        self._sender.send(
            ModelChanged(
                **self._sender.stamp(),
                provider=facts.name,
                model=facts.model,
                context_window=facts.window,
                effort=self._route.choice.effort,
                efforts=_efforts(mounted) if mounted is not None else (),
                max_output_tokens=facts.reserve,
                chosen=("model" if self._route.choice.model else "effort") if chosen else "",
                doubted=bool(doubt),
            )
        )
        if doubt:
            self._sender.notice("warning", doubt)

    def modules_changed(self) -> bool:
        """Take up the providers as they are now; return whether something else answers."""
        before = self._told
        self._default = default_provider(self._mounted(), self._plan).name
        if self.facts == before:
            return False
        self.tell()
        return True

    def learn_soon(self, learned: Callable[[], None]) -> None:
        """Ask for the window of the model in use, once, where its provider does not tell it.

        Args:
            learned: Called when it is known.
        """
        facts = self.facts
        key, provider = (facts.name, facts.model), self._mounted().get(facts.name)
        told = facts.window and key not in self._route.learned
        if provider is None or told or self._asked.get(key) is provider:
            return
        self._asked[key] = provider
        task = asyncio.get_running_loop().create_task(self._learn(key, provider, learned))
        self._learning.add(task)
        task.add_done_callback(self._learning.discard)

    def stop(self) -> None:
        """Learn nothing more."""
        for task in self._learning:
            task.cancel()

    async def _learn(
        self, key: tuple[str, str], provider: Any, learned: Callable[[], None]
    ) -> None:
        name, model = key
        try:
            async with asyncio.timeout(LISTING):
                info = await model_info(provider, model)
        except TimeoutError:
            logger.info("%s does not list its models: the window is not known", name)
            return
        if info is None or info.context_window <= 0:
            return
        reserve = answer_reserve(info.defaults) or info.max_output_tokens
        self._route.learned[key] = ProviderFacts(name, model, info.context_window, reserve)
        self.tell()
        learned()

    async def check(self, name: str) -> str:
        """Send a provider one small request; return why it was not answered, empty where it was."""
        provider = self._mounted().get(name)
        if provider is None:
            return f"the provider {name} is not mounted"
        return self._sender.redactor.text(await why_not_answered(provider))

    def answered(self, model: str) -> None:
        """The chosen model has answered, or another one in its place, which is told once."""
        self._before = None
        provider = self._route.asked.get(MAIN_LANE, "")
        wanted = self._route.named.get(MAIN_LANE, "")
        text = f"{provider} answers with {model}, not {wanted}"
        if is_another(wanted, model) and text not in self._others:
            self._others.add(text)
            self._sender.notice("warning", text, provider)

    async def switch(
        self,
        provider: str,
        model: str,
        *,
        kept: bool = True,
        refused: Callable[[str], object] | None = None,
    ) -> ModelChoice | None:
        """Have another model answer from the next request on.

        Args:
            provider: The name it is mounted under; empty for whichever offers the model.
            model: A name that a provider lists, or a part that one name alone has. With the
                provider, also as `PROVIDER/MODEL`, it is taken whether that one lists it or not.
            kept: It is the user's choice for later sessions too.
            refused: Says why there is no such model; a notice does where it is not given.

        Returns:
            What is chosen now; None, which was said, where there is no such model.
        """
        left = self._route.choice
        async with self._route.switching:
            found, doubt = await self._find(provider, model)
            if found is None:
                (refused or self._refuse)(doubt)
                return None
            self._take(replace(found, effort=self._route.choice.effort))
        self._switched(left, found)
        self._sender.store.save_metadata()
        self.tell(chosen=kept, doubt=doubt)
        return self._route.choice

    def _switched(self, left: ModelChoice, found: ModelChoice) -> None:
        if self._key(left) != self._key(found):
            self._previous = left
        # Where one fails after several switches, the first of them is gone back on.
        before = self._before or left
        self._before = before if self._key(before) != self._key(found) else None

    def switch_back(self) -> ModelChoice | None:
        """Have the model of before the last switch answer again, and the next time that one.

        Returns:
            What is chosen now; None, which was said, where nothing else was.
        """
        if self._previous is None:
            self._sender.notice("info", "There is no model to go back to")
            return None
        left, found = self._route.choice, self._previous
        self._take(replace(found, effort=left.effort))
        self._switched(left, found)
        self.tell(chosen=True)
        return self._route.choice

    def set_effort(self, effort: str) -> ModelChoice:
        """Have it think harder, or less hard; empty for what the provider does by itself."""
        self._take(replace(self._route.choice, effort=effort))
        self.tell(chosen=True)
        return self._route.choice

    def _refuse(self, why: str) -> None:
        self._sender.notice("warning", why, REFUSED)

    def _take(self, choice: ModelChoice) -> None:
        self._route.choice = choice
        kept = {name: value for name, value in asdict(choice).items() if value}
        self._sender.store.metadata.model_choice = kept

    async def _find(self, provider: str, model: str) -> tuple[ModelChoice | None, str]:
        """Return the model and what is to be doubted of it; or None, and why there is none."""
        mounted = self._mounted()
        before, slash, rest = model.partition("/")
        if slash and not provider and before in mounted:
            provider, model = before, rest
        if provider and provider not in mounted:
            return None, f"The provider {provider} is not mounted"
        cards = await self.cards([provider] if provider else None)
        fitting = fitting_models(model, cards)
        # With its provider a name is meant as it stands: aliases are often not listed.
        found = [card for card in fitting if card.model == model] if provider else fitting
        if len(found) > 1:
            return None, several_fit(model, found)
        if found:
            card = found[0]
            if card.model != model:
                self._sender.notice("info", f"{model} is {card.key}")
            choice = ModelChoice(
                provider=card.provider,
                model=card.model,
                context_window=card.context_window,
                max_output_tokens=card.answer_reserve,
            )
            return choice, ""
        asked = provider or self.facts.name
        if asked not in mounted:
            return None, "There is no provider that is ready"
        lists = any(card.model for card in cards if card.provider == asked)
        near = nearest_model(model, fitting, cards)
        # Names of models may hold a slash.
        stranger = before if slash and before not in mounted else ""
        if lists and not provider:
            why = f"The provider {stranger} is not mounted; no other" if stranger else "No provider"
            end = f"{near or '.'} Write {asked}/{model} to ask for it all the same"
            return None, f"{why} lists {model}{end}"
        why = f"no provider {stranger} is mounted, and " if stranger else ""
        text = f"{why}{asked} does not list {model}: it is asked for all the same{near}"
        return ModelChoice(provider=asked, model=model), text

    async def cards(self, providers: Iterable[str] | None = None) -> tuple[ModelCard, ...]:
        """Return what providers offer, all or these; of one that can't tell, why."""
        mounted = self._mounted()
        names = list(mounted if providers is None else providers)
        listed = await asyncio.gather(*(self._listed(name, mounted[name]) for name in names))
        return tuple(card for cards in listed for card in cards)

    async def _listed(self, name: str, provider: Any) -> list[ModelCard]:
        try:
            with without_exit():
                async with asyncio.timeout(LISTING):
                    found = list(await awaited(provider.list_models()))
        except Exception as error:
            # A provider's code: whatever it raises stands in the place of its models.
            logger.info("The models of %s can't be listed: %s", name, error)
            problem = self._sender.redactor.text(str(error) or type(error).__name__)
            return [ModelCard(provider=name, problem=problem)]
        infos = [each for each in found if isinstance(each, ModelInfo)]
        about = info_of(provider)
        vendor = (about.id if about is not None else "") or name
        unknown = [i for i in infos if i.pricing is None and not _is_local(i)]
        prices = await list_prices((vendor, info.id) for info in unknown)
        own, efforts = described(name, provider), _efforts(provider)
        cards = [
            self._card(own, each, prices.get((vendor, each.id), ()), efforts) for each in infos
        ]
        if odd := next((each for each in found if not isinstance(each, ModelInfo)), None):
            at = place_of(provider.list_models)
            said = f"list_models() should return ModelInfo, got {type(odd).__name__}"
            cards.append(ModelCard(provider=name, problem=f"{said} ({at})" if at else said))
        return cards

    def _card(
        self, own: ProviderFacts, info: Any, listed: Any, efforts: tuple[str, ...]
    ) -> ModelCard:
        name, facts, pricing = own.name, self.facts, info.pricing
        # Chosen, the model that answers where none is chosen has the limits that it has then.
        same = own if info.id == own.model else ProviderFacts()
        able = set(info.capabilities)
        first = listed[0] if listed else None
        paid = pricing.input_per_million if pricing else first.input if first else None
        earned = pricing.output_per_million if pricing else first.output if first else None
        thinks = capabilities.THINKING in able
        return ModelCard(
            provider=name,
            model=info.id,
            title=info.display_name,
            context_window=same.window or info.context_window,
            max_output_tokens=info.max_output_tokens,
            answer_reserve=same.reserve or answer_reserve(info.defaults) or info.max_output_tokens,
            input_price=None if paid is None else str(paid),
            output_price=None if earned is None else str(earned),
            price_source=(pricing.source or "") if pricing else first.source if first else "",
            takes=tuple(words for word, words in _TAKES.items() if word in able),
            efforts=efforts if thinks else (),
            current=(name, info.id) == (facts.name, facts.model),
        )


def _is_local(info: Any) -> bool:
    return capabilities.LOCAL in info.capabilities


def _efforts(provider: Any) -> tuple[str, ...]:
    """Return the levels of effort a provider knows, by what its setup asks."""
    info = info_of(provider)
    asked = info.config_fields if info is not None else ()
    found = next((field for field in asked if field.id in _EFFORT_FIELDS), None)
    return tuple(found.choices or ()) if found is not None else ()


def _read(stored: Mapping[str, Any]) -> ModelChoice:
    """Return a stored choice; what is of the wrong type counts as absent."""
    values = {
        each.name: stored[each.name]
        for each in fields(ModelChoice)
        if type(stored.get(each.name)) is type(getattr(NO_CHOICE, each.name))
    }
    return ModelChoice(**values)


async def why_not_answered(provider: Any) -> str:
    """Send a provider one small request; return why it was not answered, empty where it was.

    What it says may contain secrets.
    """
    question = Message(role="user", content="Answer with one word: ready")
    request = ChatRequest(messages=[question], max_output_tokens=_SMALL)
    try:
        with aside(), without_exit():
            async with asyncio.timeout(LISTING):
                await provider.complete(request)
    except Exception as error:
        # A provider's code: whatever it raises is the reason.
        return str(error) or type(error).__name__
    return ""
