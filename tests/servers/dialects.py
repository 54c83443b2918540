"""How servers that speak OpenAI's Chat Completions differ from OpenAI and from each other."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.servers import openai_chat
from tests.servers.replies import Reply
from tests.servers.wire import WireStep, sse

Data = dict[str, Any]


@dataclass(frozen=True)
class Dialect:
    """One server's ways.

    Attributes:
        reasoning_field: What it calls reasoning.
        calls: Whether arguments come in pieces, or all calls at once.
        ids: Whether calls have ids of their own, empty ones, or all the same.
        numbers: Whether calls are numbered, or all 0.
        usage: Whether counts come when asked for, never, or with the last choice.
        calls_finish: Whether an answer with calls says that it stopped for them.
        comment: What stands between events, to keep the connection.
        extra: What every chunk has beside.
        counts: What the usage has beside.
        too_long: The body of the refusal of a conversation that is too long.
        midway: What it sends when it fails within an answer.
        models: The rows of its model list.
    """

    reasoning_field: str = "reasoning_content"
    calls: Literal["pieces", "at once"] = "pieces"
    ids: Literal["own", "empty", "same"] = "own"
    numbers: Literal["own", "zero"] = "own"
    usage: Literal["asked", "never", "last choice"] = "asked"
    calls_finish: bool = True
    comment: bytes = b""
    extra: Data = field(default_factory=dict)
    counts: Data = field(default_factory=dict)
    too_long: Data = field(default_factory=dict)
    midway: bytes = b""
    models: tuple[Data, ...] = ()

    def stream(self, reply: Reply, request: Data) -> Iterator[WireStep]:
        """The chunks of an answer."""
        held: list[Data] = []
        last = b""
        for step in openai_chat.stream(reply, request, self.reasoning_field):
            if not isinstance(step, bytes) or b"[DONE]" in step:
                yield step
                continue
            data = json.loads(step.removeprefix(b"data: "))
            made = self._chunk(data, held)
            if made is None:
                continue
            if self.usage == "last choice" and _finishes(made):
                last = sse(made)
            elif "usage" in made and made["usage"] and last:
                yield sse({**json.loads(last.removeprefix(b"data: ")), "usage": made["usage"]})
                last = b""
            else:
                yield self.comment + sse(made)
        if last:
            yield last

    def _chunk(self, data: Data, held: list[Data]) -> Data | None:
        """A chunk as this server writes it; None for one that it does not write."""
        if data.get("usage"):
            if self.usage == "never":
                return None
            data["usage"] |= self.counts
        for choice in data["choices"]:
            calls = choice["delta"].get("tool_calls")
            if calls and self.calls == "at once":
                _collect(calls[0], held)
                return None
            if calls:
                self._mark(calls)
            if choice["finish_reason"] and held:
                self._mark(held)
                choice["delta"] = {"role": "assistant", "content": "", "tool_calls": held}
            if choice["finish_reason"] == "tool_calls" and not self.calls_finish:
                choice["finish_reason"] = "stop"
        return {**data, **self.extra}

    def _mark(self, calls: list[Data]) -> None:
        for call in calls:
            if "id" in call and self.ids != "own":
                call["id"] = "" if self.ids == "empty" else "call_0"
            if self.numbers == "zero":
                call["index"] = 0


def _finishes(data: Data) -> bool:
    return any(choice["finish_reason"] for choice in data["choices"])


def _collect(call: Data, held: list[Data]) -> None:
    if "id" in call:
        held.append(call)
    else:
        held[-1]["function"]["arguments"] += call["function"]["arguments"]


OLLAMA = Dialect(
    reasoning_field="reasoning",
    calls="at once",
    extra={"system_fingerprint": "fp_ollama"},
    too_long={"error": {"message": "prompt too long; exceeded max context length by 12 tokens"}},
    midway=b'data: {"error":"model runner has unexpectedly stopped"}\n\n',
    models=({"id": "qwen3:8b", "object": "model", "created": 0, "owned_by": "library"},),
)
LM_STUDIO = Dialect(
    extra={"stats": {}},
    numbers="zero",
    usage="last choice",
    calls_finish=False,
    too_long={
        "error": "The number of tokens to keep from the initial prompt is greater than the "
        "context length. Try to load the model with a larger context length"
    },
    midway=b'event: error\ndata: {"error":{"message":"The model was unloaded."}}\n\n',
    models=({"id": "qwen3-8b", "object": "model", "max_context_length": 40_960},),
)
VLLM = Dialect(
    reasoning_field="reasoning",
    usage="never",
    too_long={
        "object": "error",
        "message": "This model's maximum context length is 4096 tokens.",
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    },
    midway=b'data: {"error": {"object": "error", "message": "EngineCore died", '
    b'"type": "InternalServerError", "code": 500}}\n\ndata: [DONE]\n\n',
    models=({"id": "Qwen/Qwen3-8B", "object": "model", "max_model_len": 40_960},),
)
LLAMA_CPP = Dialect(
    ids="empty",
    extra={"timings": {"predicted_per_second": 17.5}},
    too_long={
        "error": {
            "code": 400,
            "message": "request (5000 tokens) exceeds the available context size (4096 tokens)",
            "type": "exceed_context_size_error",
            "n_ctx": 4096,
        }
    },
    midway=b'data: {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}\n\n',
    models=({"id": "qwen3.gguf", "object": "model", "meta": {"n_ctx_train": 40_960}},),
)
OPENROUTER = Dialect(
    reasoning_field="reasoning",
    ids="same",
    comment=b": OPENROUTER PROCESSING\n\n",
    extra={"provider": "Somebody"},
    counts={"cost": 0.00042},
    too_long={
        "error": {
            "code": 400,
            "message": "This endpoint's maximum context length is 4096 tokens.",
            "metadata": {"provider_name": "Somebody"},
        }
    },
    midway=b'data: {"id":"gen-1","choices":[{"index":0,"delta":{"content":""},'
    b'"finish_reason":"error","error":{"code":502,"message":"Provider disconnected"}}]}\n\n',
    models=(
        {
            "id": "qwen/qwen3-8b",
            "context_length": 40_960,
            "architecture": {"input_modalities": ["text"]},
            "supported_parameters": ["max_tokens", "tools", "reasoning"],
            "top_provider": {"context_length": 40_960, "max_completion_tokens": 16_384},
            "pricing": {
                "prompt": "0.000003",
                "completion": "0.000015",
                "input_cache_read": "0.0000003",
            },
        },
    ),
)
DIALECTS = {
    "Ollama": OLLAMA,
    "LM Studio": LM_STUDIO,
    "vLLM": VLLM,
    "llama.cpp": LLAMA_CPP,
    "OpenRouter": OPENROUTER,
}
