"""A session of an agent: ids and state, nothing else (ADR 0016)."""

import warnings
from collections.abc import Callable, Mapping
from operator import methodcaller
from typing import Any, Final, Self
from uuid import uuid4

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.context.adr.message import Message


class AgentSession:
    """A conversation with an agent: what its providers remember of it, by source id, in ``state``.

    Args:
        session_id: Its id; a random one by default.
        service_session_id: Id the model's service knows it by, if the service keeps it.
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


Encoder = Callable[[Any], Mapping[str, Any]]
Decoder = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class _StateType:
    type_id: str
    cls: type
    encode: Encoder
    decode: Decoder


_BY_ID: dict[str, _StateType] = {}
_BY_CLASS: dict[type, _StateType] = {}


def register_state_type(
    cls: type,
    *,
    type_id: str | None = None,
    encoder: Encoder | None = None,
    decoder: Decoder | None = None,
) -> None:
    """Let objects of a type live in session states.

    Args:
        cls: The type.
        type_id: Name of the type in the data; by default what ``cls._get_type_identifier()``
            returns, ``cls.TYPE``, or the class's name in lower case.
        encoder: Turns an object into a mapping; by default its ``to_dict()``, or
            ``model_dump()`` of a pydantic model.
        decoder: Turns the mapping back; by default ``cls.from_dict``, or ``model_validate``.

    Raises:
        ValueError: The id is empty or taken by another type, the type is registered under
            another id, only one of the coders is given, or none can be found.
    """
    if (encoder is None) != (decoder is None):
        raise ValueError(f"{cls.__name__} needs both an encoder and a decoder, or neither")
    identity = _identity(cls) if type_id is None else type_id
    if not identity:
        raise ValueError(f"The type id of {cls.__name__} must not be empty")
    taken, known = _BY_ID.get(identity), _BY_CLASS.get(cls)
    if taken is not None and taken.cls is not cls:
        raise ValueError(f"Type id '{identity}' is taken by {taken.cls.__name__}")
    if known is not None and known.type_id != identity:
        raise ValueError(f"{cls.__name__} is registered already, as '{known.type_id}'")
    if encoder is None or decoder is None:
        encoder, decoder = _own_coders(cls)
    registered = _StateType(identity, cls, encoder, decoder)
    _BY_ID[identity] = _BY_CLASS[cls] = registered


def encode_state(value: Any) -> Any:
    """Return a state as plain data.

    Objects of registered types are encoded and get their type's id as ``type``; others with
    ``to_dict()`` become what that returns. What has no plain form is left as it is, with a
    ``RuntimeWarning``.
    """
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {key: encode_state(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode_state(item) for item in value]
    registered = _BY_CLASS.get(type(value))
    if registered is not None:
        return {**encode_state(registered.encode(value)), "type": registered.type_id}
    to_dict = getattr(value, "to_dict", None)
    if callable(to_dict):
        return encode_state(to_dict())
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        warnings.warn(
            f"{type(value).__name__} in a session's state is not registered and will come back "
            "as a dict: call register_state_type",
            DeprecationWarning,
            stacklevel=2,
        )
        return dump(mode="json")
    warnings.warn(
        f"{type(value).__name__} in a session's state has no plain form and may not be saved: "
        "use JSON values, or register_state_type",
        RuntimeWarning,
        stacklevel=2,
    )
    return value


def decode_state(value: Any, path: str = "state") -> Any:
    """Return the state that `encode_state` wrote.

    A mapping becomes an object only if its ``type`` is registered.

    Raises:
        ValueError: An object can't be decoded; the message says which, by its ``path``.
    """
    if isinstance(value, Mapping):
        registered = _BY_ID.get(kind) if isinstance(kind := value.get("type"), str) else None
        if registered is None:
            return {key: decode_state(item, f"{path}.{key}") for key, item in value.items()}
        try:
            return registered.decode(value)
        except Exception as error:
            raise ValueError(f"{path} is no readable '{kind}': {error}") from error
    if isinstance(value, list):
        return [decode_state(item, f"{path}[{i}]") for i, item in enumerate(value)]
    return value


def _identity(cls: type) -> str:
    ask = getattr(cls, "_get_type_identifier", None)
    if callable(ask):
        return str(ask())
    named = getattr(cls, "TYPE", None)
    return named if isinstance(named, str) else cls.__name__.lower()


_OWN_CODERS: Final = (
    (methodcaller("to_dict"), "to_dict", "from_dict"),
    (methodcaller("model_dump", mode="json"), "model_dump", "model_validate"),
)


def _own_coders(cls: type) -> tuple[Encoder, Decoder]:
    for encode, write, read in _OWN_CODERS:
        if callable(getattr(cls, write, None)) and callable(getattr(cls, read, None)):
            return encode, getattr(cls, read)
    raise ValueError(
        f"{cls.__name__} has neither to_dict and from_dict nor model_dump and model_validate: "
        "give an encoder and a decoder"
    )


register_state_type(Message, type_id="message")
