"""The service implements what the client promises, under the same names."""

import inspect

from amplifier_tui.host.client import SessionClient
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.door.service import Service

OF_THE_CLIENT = {"beside", "drain", "set_waker"}


def methods() -> list[str]:
    promised = inspect.getmembers(SessionClient, inspect.isfunction)
    return [name for name, _ in promised if not name.startswith("_")]


def parameters(owner: type, name: str) -> list[tuple[str, object, object]]:
    found = inspect.signature(getattr(owner, name)).parameters.values()
    return [(p.name, p.kind, p.default) for p in found]


def test_every_method_of_the_client_is_implemented_by_the_service_with_the_same_parameters() -> (
    None
):
    for name in methods():
        if name in OF_THE_CLIENT:
            continue
        promised = parameters(SessionClient, name)
        assert parameters(Service, name)[: len(promised)] == promised, name
        assert inspect.iscoroutinefunction(getattr(Service, name)), name


def test_the_local_client_has_every_method_with_the_protocol_s_words() -> None:
    for name in methods():
        if name in OF_THE_CLIENT:
            continue
        assert name in vars(LocalClient), name
        assert parameters(LocalClient, name) == parameters(SessionClient, name)
        assert getattr(LocalClient, name).__doc__, name
