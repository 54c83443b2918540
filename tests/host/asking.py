from typing import Any

from tests.host.driving import Project
from tests.servers import LoopbackServer

CONTEXT = "context-pipeline"


def chat(server: LoopbackServer, **config: Any) -> dict[str, Any]:
    settings = {
        "api_key": "sk-test-0000000000000001",
        "max_retries": 0,
        "base_url": server.openai_url,
        "api": "chat",
    }
    return {"module": "provider-openai", "config": {**settings, **config}}


def claude(server: LoopbackServer, **config: Any) -> dict[str, Any]:
    settings = {"api_key": "sk-test-0000000000000001", "max_retries": 0, "base_url": server.url}
    return {"module": "provider-anthropic", "config": {**settings, **config}}


def seen(server: LoopbackServer, index: int) -> list[str]:
    """What the model was sent in a request, but for the system prompt: `role: text`."""
    messages = server.request_blocking(index).json["messages"]
    return [
        f"{message['role']}: {_text(message.get('content'))}"
        for message in messages
        if message["role"] not in ("system", "developer")
    ]


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n\n".join(_text(block.get("text") or block.get("content")) for block in content)
    return "" if content is None else str(content)


def with_source(project: Project, server: LoopbackServer, *sources: Any, **more: Any) -> str:
    """A bundle whose context has sources of its own and whose model is the server."""
    more.setdefault("context_config", {"providers": []})
    more.setdefault("providers", [chat(server)])
    hooks = (("hooks-source", {"sources": list(sources)}),)
    return project.bundle(context=CONTEXT, hooks=hooks, **more)
