"""A session of an agent: ids and state, nothing else (ADR 0016)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self
from uuid import uuid4

from amplifier_tui.context.state_types import decode_state, encode_state


class AgentSession:
    """A conversation with an agent.

    Providers belong to the agent; here is only what they remember of this conversation.

    Args:
        session_id: Its id; a random one by default.
        service_session_id: Id the model's service knows it by, if the service keeps it.

    Attributes:
        service_session_id: Id the model's service knows it by, if the service keeps it.
        state: By source id, what each provider remembers.
    """

    def __init__(
        self, *, session_id: str | None = None, service_session_id: str | None = None
    ) -> None:
        self._session_id = session_id or str(uuid4())
        self.service_session_id = service_session_id
        self.state: dict[str, Any] = {}

    @property
    def session_id(self) -> str:
        """Its id."""
        return self._session_id

    def scoped_state(self, source_id: str) -> dict[str, Any]:
        """Return a provider's part of the state; it is made if need be.

        Raises:
            TypeError: Something else is there.
        """
        part = self.state.setdefault(source_id, {})
        if not isinstance(part, dict):
            raise TypeError(f"The state of '{source_id}' must be a dict, not {type(part).__name__}")
        return part

    def to_dict(self) -> dict[str, Any]:
        """Return the session as plain data, objects of registered types encoded.

        A part that can't be encoded is left as it is, with a ``RuntimeWarning``; the other parts
        can still be saved.
        """
        return {
            "type": "session",
            "session_id": self._session_id,
            "service_session_id": self.service_session_id,
            "state": {name: _encoded(name, part) for name, part in self.state.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the session that `to_dict` wrote.

        Raises:
            KeyError: There is no session id.
            ValueError: The state holds an object that can't be decoded.
        """
        session = cls(
            session_id=data["session_id"], service_session_id=data.get("service_session_id")
        )
        state = decode_state(data.get("state") or {})
        session.state = state if isinstance(state, dict) else {}
        return session


def _encoded(name: str, part: Any) -> Any:
    try:
        return encode_state(part)
    except Exception as error:
        warnings.warn(
            f"What '{name}' keeps in the session's state can't be encoded: {error}",
            RuntimeWarning,
            stacklevel=3,
        )
        return part
