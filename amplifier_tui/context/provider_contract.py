"""Whether a context provider can take part: what it is called, and how its hooks are called."""

from contextlib import suppress
from typing import Any, Final

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
