"""The ways to a model the program knows, each led to a loopback server."""

from dataclasses import dataclass
from typing import Literal

from tests.e2e.machine import Machine
from tests.servers.server import LoopbackServer

Kind = Literal["anthropic", "responses", "chat"]
KINDS: tuple[Kind, ...] = ("anthropic", "responses", "chat")

_BUNDLE = """---
bundle:
  name: {name}
  version: 1.0.0
  description: Written by a test.

session:
  orchestrator: {{module: loop-streaming}}
  context: {{module: context-simple}}

providers:
  - module: {module}
    config: {config}

tools:
  - module: tool-filesystem
  - module: tool-bash

hooks:
  - module: hooks-approval
    config: {{policy: standard, timeout: 300}}
  - module: hooks-logging
---

{instruction}
"""


@dataclass(frozen=True)
class Vendor:
    """One API, and how it is reached.

    Attributes:
        module: The provider module that speaks it.
        config: Its config in a bundle; `{url}` is the server's address.
        env: What leads a shipped bundle there, and the key.
    """

    module: str
    config: str
    env: dict[str, str]


_VENDORS: dict[Kind, Vendor] = {
    "anthropic": Vendor(
        "provider-anthropic",
        "{{max_retries: 0}}",
        {"ANTHROPIC_API_KEY": "sk-ant-test-key-of-nobody", "ANTHROPIC_BASE_URL": "{url}"},
    ),
    "responses": Vendor(
        "provider-openai",
        "{{base_url: '{url}/v1', api: responses, default_model: gpt-6-astra, max_retries: 0}}",
        {"OPENAI_API_KEY": "sk-test-key-of-nobody"},
    ),
    "chat": Vendor(
        "provider-openai",
        "{{base_url: '{url}/v1', api: chat, max_retries: 0}}",
        {"LOCAL_LLM_BASE_URL": "{url}/v1"},
    ),
}


def lead_to(
    server: LoopbackServer,
    machine: Machine,
    kind: Kind,
    name: str = "work",
    *,
    instruction: str = "You help.",
) -> None:
    """Write a bundle whose model is the server, and lead the shipped ones there as well.

    Args:
        server: Running.
        machine: Gets the bundle, and the variables for its environment.
        kind: Which API to speak.
        name: The bundle's name.
        instruction: The model's.
    """
    vendor = _VENDORS[kind]
    machine.env |= {key: value.format(url=server.url) for key, value in vendor.env.items()}
    config = vendor.config.format(url=server.url)
    machine.bundle(
        name,
        _BUNDLE.format(name=name, module=vendor.module, config=config, instruction=instruction),
    )
