"""What there is to know about providers, models, modules and sessions (spec 000)."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_tui.kernel.message_models import Cost


class _Described(BaseModel):
    # Built when first used: most programs need few of these.
    model_config = ConfigDict(defer_build=True)


class Pricing(_Described):
    """What a model costs, per million tokens, in ``currency`` (three capital letters).

    For showing: what a turn came to is in ``Usage.cost_usd``, which is exact. ``source`` says whose
    data this is and of when, if anybody said.
    """

    input_per_million: float
    output_per_million: float
    cache_read_per_million: float | None = None
    cache_write_per_million: float | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    source: str | None = None


class ModelInfo(_Described):
    """A model a provider offers; ``context_window`` and ``max_output_tokens`` in tokens."""

    id: str
    display_name: str
    context_window: int
    max_output_tokens: int
    capabilities: list[str] = Field(default_factory=list)
    defaults: dict[str, Any] = Field(default_factory=dict)
    pricing: Pricing | None = None


class ConfigField(_Described):
    """A question a provider's setup asks; ``id`` is the answer's key in the provider's config.

    ``env_var`` names an environment variable that may hold the answer. ``show_when`` has other
    fields, and the values they must have for this one to be asked.
    """

    id: str
    display_name: str
    prompt: str
    field_type: Literal["text", "secret", "choice", "boolean"] = "text"
    env_var: str | None = None
    choices: list[str] | None = None
    required: bool = True
    default: str | None = None
    show_when: dict[str, Any] | None = None
    requires_model: bool = False


class ProviderInfo(_Described):
    """Who a provider is and what its setup needs."""

    id: str
    display_name: str
    credential_env_vars: list[str] = Field(default_factory=list)
    capabilities: list[str] = Field(default_factory=list)
    defaults: dict[str, Any] = Field(default_factory=dict)
    config_fields: list[ConfigField] = Field(default_factory=list)


class ModuleInfo(_Described):
    """A module the loader can find."""

    id: str
    name: str
    version: str
    type: Literal["orchestrator", "provider", "tool", "context", "hook", "resolver"]
    mount_point: str
    description: str
    config_schema: dict[str, Any] | None = None


def _now() -> datetime:
    return datetime.now(UTC)


class SessionStatus(_Described):
    """How a session stands; times in UTC."""

    session_id: str
    started_at: datetime = Field(default_factory=_now)
    ended_at: datetime | None = None
    status: Literal["running", "completed", "failed", "cancelled"] = "running"
    total_messages: int = 0
    tool_invocations: int = 0
    tool_successes: int = 0
    tool_failures: int = 0
    total_input_tokens: int = 0
    total_output_tokens: int = 0
    cost_usd: Cost = None
    last_activity: datetime | None = None
    last_error: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-native data without the fields that are None."""
        return self.model_dump(mode="json", exclude_none=True)
