"""What every event carries, and how it becomes JSON."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from amplifier_tui.host.events import codec as _codec
from amplifier_tui.host.events.records import MAIN_LANE


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEvent:
    """What every event carries.

    Attributes:
        session_id: The session it belongs to.
        agent: The lane: `main`, or the id of a sub-agent's session.
        at: Unix time in seconds, from the engine's clock.
        replayed: True when it retells a stored session instead of something happening now.
    """

    session_id: str
    agent: str = MAIN_LANE
    at: float = 0.0
    replayed: bool = False

    registry: ClassVar[dict[str, type["HostEvent"]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # dataclass(slots=True) builds the class twice; the second one wins, as it must.
        HostEvent.registry[cls.__name__] = cls

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-native dict with the class name under `type`."""
        return _codec.encode_event(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Rebuild the event that `to_json` gave.

        Unknown fields are ignored, so that an older program reads a newer log.

        Raises:
            ValueError: `type` is missing or unknown, or is no subclass of the class called on.
            TypeError: A required field is missing.
        """
        event_type = HostEvent.registry.get(str(data.get("type")))
        if event_type is None or not issubclass(event_type, cls):
            raise ValueError(f"Not a {cls.__name__}: type is {data.get('type')!r}")
        return _codec.decode_event(event_type, data)
