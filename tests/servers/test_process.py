import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

ASK = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}


@contextmanager
def process(tmp_path: Path, script: dict[str, Any], api: str = "any") -> Iterator[str]:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    command = [sys.executable, "-m", "tests.servers", "--api", api, "--script", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        yield f"http://127.0.0.1:{int(running.stdout.readline())}"
        running.communicate(timeout=10)
        assert running.returncode == 0


def test_a_script_file_drives_both_vendors_and_reacts_to_what_it_got(tmp_path: Path) -> None:
    script = {
        "replies": [
            {"tools": [{"name": "bash", "arguments": {"command": "ls"}, "id": "call_1"}]},
            {"text": "So you said ${last_tool_result}."},
            {"fail": "rate_limited", "retry_after": 3},
        ],
        "otherwise": "Done.",
    }
    with process(tmp_path, script) as url:
        claude = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0)
        first = claude.messages.create(**ASK)
        assert first.content[0].input == {"command": "ls"}
        answer = [{"type": "tool_result", "tool_use_id": "call_1", "content": "no, too risky"}]
        history = [
            *ASK["messages"],
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": answer},
        ]
        second = claude.messages.create(**ASK | {"messages": history})
        assert second.content[0].text == "So you said no, too risky."
        gpt = openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)
        with pytest.raises(openai.RateLimitError):
            gpt.responses.create(model="m", input="Hi")
        assert gpt.responses.create(model="m", input="Hi").output_text == "Done."


def test_a_named_gate_is_opened_from_outside(tmp_path: Path) -> None:
    script = {"replies": [{"text": ["one ", {"gate": "half"}, "two"]}]}
    with process(tmp_path, script, api="anthropic") as url:
        claude = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0)
        with claude.messages.stream(**ASK) as stream:
            texts = stream.text_stream
            assert next(texts) == "one "
            urllib.request.urlopen(
                urllib.request.Request(f"{url}/_/open/half", method="POST")
            ).close()
            assert next(texts) == "two"
        with urllib.request.urlopen(f"{url}/_/requests") as listed:
            assert [record["api"] for record in json.load(listed)] == ["anthropic"]
        with pytest.raises(openai.NotFoundError):
            openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0).responses.create(
                model="m", input="Hi"
            )
