"""A conversation with every kind of entry, for tests and for looking at."""

from amplifier_tui.host.events import ProviderRetrying
from amplifier_tui.ui.state.conversation.entries import (
    ConversationEntry,
    EntryChange,
    ErrorEntry,
    NoteEntry,
    RetryEntry,
    ShellEntry,
    TextEntry,
    ThinkingEntry,
    ToolEntry,
    UserEntry,
    WelcomeEntry,
)

DIFF = """\
--- a/tests/test_retry.py
+++ b/tests/test_retry.py
@@ -12,2 +12,4 @@
 async def test_backoff(clock):
-    await retry_with_backoff(op)
+    task = asyncio.create_task(retry_with_backoff(op))
+    await clock.advance(3.0)
+    await task
"""

ANSWER = """\
Fixed. The test now **advances the clock** it injects, so nothing sleeps for real:

| test | before | after |
|:-----|-------:|------:|
| `test_backoff` | 3.02 s | 8 ms |
| `test_gives_up` | 7.11 s | 9 ms |

What changed, in order:

1. `test_backoff` starts the call as a task
2. the fake clock is moved by *three* seconds
   - the first retry fires at 1.0 s
   - the second at 3.0 s
3. the task is awaited

```python
async def test_backoff(clock):
    task = asyncio.create_task(retry_with_backoff(op))
    await clock.advance(3.0)  # both retries
    await task
```

> Anything that waits should take a clock.

See [the asyncio docs](https://docs.python.org/3/library/asyncio-task.html).
"""


def entries() -> list[ConversationEntry]:
    return [
        UserEntry(key="u1", text="Why does the retry test hang? Fix it."),
        ThinkingEntry(
            key="k1",
            text="The user wants the hanging test fixed. I should look at the clock it uses first.",
        ),
        TextEntry(
            key="t1",
            text="The test never advances the fake clock, so `retry_with_backoff` sleeps for real. "
            "Let me look at both.",
        ),
        ToolEntry(
            key="c1",
            tool="read_file",
            arguments={"file_path": "src/retry.py", "offset": 1, "limit": 64},
            state="ok",
            duration_ms=12,
            output="import asyncio\n",
        ),
        ToolEntry(
            key="c2",
            tool="grep",
            arguments={"pattern": "sleep(", "path": "tests/"},
            state="ok",
            duration_ms=41,
            summary="3 hits",
            output="tests/a.py:3: sleep(1)\n",
        ),
        ToolEntry(
            key="c3",
            tool="edit_file",
            arguments={"file_path": "tests/test_retry.py"},
            state="ok",
            duration_ms=9,
            diff=DIFF,
            expanded=True,
        ),
        ToolEntry(
            key="c4",
            tool="bash",
            arguments={"command": "pytest -q tests/test_retry.py"},
            state="waiting",
        ),
    ]


def more() -> list[ConversationEntry]:
    return [
        ToolEntry(
            key="c5",
            tool="bash",
            arguments={"command": "pytest -q tests/test_retry.py"},
            state="ok",
            duration_ms=3200,
            output="..                                       [100%]\n2 passed in 0.02s",
            expanded=True,
        ),
        TextEntry(key="t2", text=ANSWER),
        UserEntry(key="u2", text="Now push it.", attachments=("notes.md",)),
        ToolEntry(
            key="c6",
            tool="bash",
            arguments={"command": "git push"},
            state="denied",
            error="not before the review",
        ),
        ToolEntry(
            key="c7",
            tool="task",
            arguments={"agent": "reviewer", "instruction": "Review the diff"},
            state="running",
            started=1000.0,
        ),
        ToolEntry(
            key="c8",
            agent="1-2_reviewer",
            tool="read_file",
            arguments={"file_path": "tests/test_retry.py"},
            state="ok",
            duration_ms=3,
        ),
        ToolEntry(
            key="c9",
            agent="1-2_reviewer",
            tool="query_graph",
            arguments={"query": "callers of retry", "depth": 2},
            state="failed",
            duration_ms=1204,
            error="no such index",
        ),
        ShellEntry(
            key="s1",
            tool="!",
            arguments={"command": "git log --oneline | head -30"},
            state="failed",
            output="".join(f"{number:07x} Some words of a commit\n" for number in range(30)),
            summary="exit code 1",
            waits=True,
        ),
        RetryEntry(
            key="w1",
            event=ProviderRetrying(
                session_id="s",
                provider="anthropic",
                problem="Rate limit reached",
                status=429,
                delay=12.0,
                attempt=2,
                most=5,
            ),
        ),
        NoteEntry(key="n1", text="Stopped after 12 s · partial answer kept"),
        ErrorEntry(
            key="e1",
            kind="rate_limit",
            message="The provider refused: rate limit reached.",
            remedy="It opens again in 42 s.",
            retryable=True,
            prompt="Now push it.",
            detail="HTTP 429",
        ),
        WelcomeEntry(
            key="w1",
            bundle="coding",
            model="sonnet",
            mode="ask",
            examples=("Explain this project", "Fix the failing test"),
        ),
    ]


def adding(these: list[ConversationEntry]) -> list[EntryChange]:
    return [EntryChange(op="add", entry=entry) for entry in these]
