"""Objects in a session's state: which types there are, and how they become plain data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_tui.context.message import Message

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

    Args:
        value: Plain data. A mapping becomes an object only if its ``type`` is registered.
        path: Where in the state it is, for the message.

    Raises:
        ValueError: An object can't be decoded.
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


def _own_coders(cls: type) -> tuple[Encoder, Decoder]:
    for write, read in (("to_dict", "from_dict"), ("model_dump", "model_validate")):
        if callable(getattr(cls, write, None)) and callable(getattr(cls, read, None)):
            return _writer(write), getattr(cls, read)
    raise ValueError(
        f"{cls.__name__} has neither to_dict and from_dict nor model_dump and model_validate: "
        "give an encoder and a decoder"
    )


def _writer(name: str) -> Encoder:
    def encode(value: Any) -> Mapping[str, Any]:
        data: Mapping[str, Any] = (
            value.model_dump(mode="json") if name == "model_dump" else value.to_dict()
        )
        return data

    return encode


register_state_type(Message, type_id="message")
