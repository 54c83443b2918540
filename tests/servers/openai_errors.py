"""OpenAI's error bodies, shared by Responses and Chat Completions, and its model list."""

from typing import Any

from tests.servers.replies import Failure

FAILURES: dict[str, tuple[int, str, str | None, str]] = {
    "unauthorized": (
        401,
        "invalid_request_error",
        "invalid_api_key",
        "Incorrect API key provided: sk-t***. You can find your API key in your dashboard.",
    ),
    "forbidden": (403, "invalid_request_error", "forbidden", "You are not allowed to do this."),
    "unknown_model": (
        404,
        "invalid_request_error",
        "model_not_found",
        "The model `{model}` does not exist or you do not have access to it.",
    ),
    "rate_limited": (429, "requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    "quota": (
        429,
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "overloaded": (503, "server_error", None, "The engine is currently overloaded."),
    "unavailable": (503, "server_error", None, "Service unavailable"),
    "server_error": (500, "server_error", "server_error", "The server had an error."),
    "context_too_long": (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "Your input exceeds the context window of this model.",
    ),
    "bad_request": (400, "invalid_request_error", None, "Invalid value for 'messages'."),
}


def failure(answer: Failure, model: str) -> tuple[int, dict[str, Any]]:
    status, kind, code, message = FAILURES[answer.kind]
    text = answer.message or message.format(model=model)
    return status, error_body(kind, code, text, answer.param)


def error_body(
    kind: str, code: str | None, message: str, param: str | None = None
) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def models(names: list[str]) -> dict[str, Any]:
    data = [
        {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "system"}
        for name in names
    ]
    return {"object": "list", "data": data}
