"""Whether a context provider can take part: what it is called, and how its hooks are called."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from amplifier_tui.base.nearest import nearest
from amplifier_tui.base.python import signature_of
from amplifier_tui.context.errors import Phase, ProviderContractError
from amplifier_tui.kernel.mounting.contents import place_of

ARGUMENTS: Final = ("agent", "session", "context", "state")
"""What hooks of a provider are called with."""
PHASES: Final[tuple[Phase, ...]] = ("before_run", "after_run")


def check_provider(provider: Any) -> None:
    """Raise `ProviderContractError` where a provider has no name or hooks that can't be called."""
    source_id = getattr(provider, "source_id", None)
    if not isinstance(source_id, str) or not source_id:
        raise ProviderContractError(
            f"The context provider {type(provider).__name__} has no source_id",
            place_of(getattr(type(provider), "__init__", provider)) or place_of(provider),
            'Call super().__init__("its name") in its __init__',
        )
    for phase in PHASES:
        check_hook(provider, phase)


def check_hook(provider: Any, phase: Phase) -> None:
    """Raise `ProviderContractError` where a hook of a provider can't be called."""
    hook = getattr(provider, phase, None)
    if callable(hook) and _takes_its_arguments(hook):
        return
    name, wanted = provider.source_id, ", ".join(ARGUMENTS)
    problem = f"should accept ({wanted})" if callable(hook) else "is missing"
    raise ProviderContractError(
        f"{phase}() of the context provider '{name}' {problem}",
        place_of(hook if callable(hook) else provider),
        f"Define it as: async def {phase}(self, {wanted})",
    )


def misspelt_hooks(provider: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield methods of a provider that nobody calls, much like a hook that it leaves as it is.

    Each with its name and the hook that is meant. A name with `_` in front is the author's own.
    """
    kind = type(provider)
    left = [phase for phase in PHASES if _is_ours(getattr(kind, phase, None))]
    for each in kind.__mro__ if left else ():
        for name, method in () if _is_ours(each) else vars(each).items():
            if not name.startswith("_") and callable(method) and (meant := nearest(name, left)):
                yield name, method, meant


def _is_ours(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).startswith(("amplifier_tui.", "builtins"))


def _takes_its_arguments(hook: Any) -> bool:
    try:
        signature = signature_of(hook)
    except (TypeError, ValueError):
        return True  # the call will tell
    for by_position, by_name in (((), dict.fromkeys(ARGUMENTS)), (ARGUMENTS, {})):
        with suppress(TypeError):
            signature.bind(*by_position, **by_name)
            return True
    return False
