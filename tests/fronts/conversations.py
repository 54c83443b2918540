"""The conversations that have to come out the same through every front end."""

from typing import Any, Final

from amplifier_tui.host.client import SpendLimit
from tests.fronts.player import Conversation
from tests.host.driving import calling, saying

FILES: Final = ("tool-filesystem",)
BASH: Final = ("tool-bash",)
TEST: Final = ("tool-test",)
WRITE: Final = {"write_file": {"file_path": "a.txt", "content": "one\n"}}
EDIT: Final = {"edit_file": {"file_path": "b.txt", "old_string": "two", "new_string": "2"}}
TOUCH: Final = {"bash": {"command": "touch made.txt"}}
WAIT: Final = {"wait": {"started": "{folder}/started", "until": "{folder}/release"}}
STORE: Final = {
    "question": "Where?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres"}],
}
PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
PIPELINE: Final[dict[str, Any]] = {
    "context": "context-pipeline",
    "context_config": {"providers": []},
}


def waiting(then: str = "All done.") -> dict[str, Any]:
    """A turn in which the tool `wait` runs until the user has done something."""
    return {**calling(WAIT, then=then), "when": {"prompt": "^go"}}


def steps(**named: Any) -> dict[str, Any]:
    """A scenario of named steps."""
    return {"name": "steps", "steps": named}


CONVERSATIONS: Final = (
    Conversation(
        name="answers of several turns, with thoughts",
        prompts=("hello", "and *you*?\nSecond line"),
        bundle={
            "script": steps(
                only={"thinking": "Hm, let me see.", "say": "You said **{{prompt}}**.\n\n- one\n"}
            )
        },
    ),
    Conversation(
        name="a file that is read without a question",
        bundle={"script": calling({"read_file": {"file_path": "b.txt"}}), "tools": FILES},
        files={"b.txt": "one\ntwo\n"},
    ),
    Conversation(
        name="a new file and a changed one, each allowed once",
        bundle={"script": calling(WRITE, EDIT, say="Two files."), "tools": FILES, **PIPELINE},
        files={"b.txt": "one\ntwo\n"},
        answers=("once", "once"),
    ),
    Conversation(
        name="a command that is denied",
        bundle={"script": calling(TOUCH, then="You said: {{reason}}"), "tools": BASH},
        answers=("deny",),
    ),
    Conversation(
        name="an answer that is kept for the session",
        prompts=("go", "again"),
        bundle={"script": calling(TOUCH), "tools": BASH},
        answers=("session",),
    ),
    Conversation(
        name="an answer that is kept everywhere, and calls that are denied",
        prompts=("go", "again"),
        bundle={
            "script": steps(
                write={"call": [WRITE]},
                remove={"call": [{"bash": {"command": "rm -r x"}}]},
                end={"say": "Well."},
            ),
            "tools": FILES + BASH,
        },
        answers=("always", "deny", "deny"),
    ),
    Conversation(
        name="questions that are answered, and declined",
        prompts=("go", "again"),
        bundle={
            "script": calling({"ask_user": {"questions": [STORE]}}, then="{{output}}"),
            "tools": ("tool-ask-user",),
        },
        answers=((1,), "decline"),
    ),
    Conversation(
        name="a plan that is not carried out, and one that is",
        prompts=("plan it", "better"),
        bundle={
            "script": [
                {**calling(WRITE, then="Done."), "when": {"turn": 3}},
                saying("First this, then that."),
            ],
            "tools": FILES,
        },
        mode="plan",
        answers=("deny", "edits"),
        turns=3,
    ),
    Conversation(
        name="a turn that is stopped after its step, and gone on with",
        prompts=("go", "more"),
        bundle={"script": [waiting(), saying("Next.")], "tools": TEST},
        meanwhile=("stop",),
        not_through={"editor": "the protocol has one stop, at once"},
    ),
    Conversation(
        name="a turn that is stopped at once",
        prompts=("go", "more"),
        bundle={"script": [waiting(), saying("Next.")], "tools": TEST},
        meanwhile=("stop", "now"),
    ),
    Conversation(
        name="a turn that is stopped where it asks",
        prompts=("go", "more"),
        bundle={
            "script": [{**calling(TOUCH), "when": {"prompt": "^go"}}, saying("Next.")],
            "tools": BASH,
        },
        at_question=("stop", "now"),
        not_through={"screen": "the first stop there is after the step, the second one at once"},
    ),
    Conversation(
        name="a turn that is stopped in order where it asks",
        prompts=("go", "more"),
        bundle={
            "script": [{**calling(TOUCH), "when": {"prompt": "^go"}}, saying("Next.")],
            "tools": BASH,
        },
        at_question=("stop",),
        not_through={"editor": "the protocol has one stop, at once"},
    ),
    Conversation(
        name="a message to the running turn",
        bundle={"script": waiting(), "tools": TEST},
        meanwhile=("steer", "rather blue"),
        not_through={"editor": "the protocol has no message to a running turn"},
    ),
    Conversation(
        name="a prompt that waits for the end of the running turn",
        bundle={"script": [waiting(), saying("Next: {{prompt}}")], "tools": TEST},
        meanwhile=("queue", "later words"),
        turns=2,
    ),
    Conversation(
        name="a sub-agent that calls a tool",
        bundle={
            "script": [
                {
                    **calling({"delegate": {"text": "look"}}, then="It says: {{output}}"),
                    "when": {"prompt": "^go"},
                },
                calling({"echo": {"text": "found"}}, then="Here."),
            ],
            "tools": TEST,
        },
        allow=("delegate", "echo"),
    ),
    Conversation(
        name="a conversation that outgrows its window",
        prompts=tuple(f"prompt {number}" for number in range(4)),
        bundle={
            "script": calling({"echo": {"text": "x" * 9_000}}),
            "tools": TEST,
            "context": "context-pipeline",
            "context_config": {"providers": [], "target": 0.1},
            "window": 12_000,
        },
        allow=("echo",),
    ),
    Conversation(
        name="a failure of the model, and the next prompt",
        prompts=("go", "again"),
        bundle={
            "script": [
                {
                    "when": {"turn": 1},
                    "steps": {
                        "only": {
                            "say": "I beg",
                            "error": {"type": "RateLimitError", "message": "too fast"},
                        }
                    },
                },
                saying("Now it works."),
            ]
        },
    ),
    Conversation(
        name="a request that is tried again",
        bundle={"retries": True},
    ),
    Conversation(
        name="calls side by side: one fails, one is asked about",
        bundle={
            "script": calling(
                {"echo": {"text": "fine"}}, {"fail": {"text": "broken"}}, TOUCH, say="At once."
            ),
            "tools": TEST + BASH,
        },
        allow=("echo", "fail"),
        answers=("once",),
    ),
    Conversation(
        name="a hook that refuses a call and tells the user why",
        bundle={
            "script": calling({"echo": {"text": "no"}}, then="{{reason}}"),
            "tools": TEST,
            "hooks": (("hooks-test", {"message": "Not on a Sunday"}),),
        },
        allow=("echo",),
    ),
    Conversation(
        name="a hook that refuses a prompt",
        prompts=("go", "again"),
        bundle={"hooks": (("hooks-test", {"deny_prompt": "no such words", "deny_only": "go"}),)},
    ),
    Conversation(
        name="a session that is resumed",
        prompts=("go",),
        again=("more", "and more"),
        bundle={"script": calling(TOUCH, say="Look."), "tools": BASH, **PIPELINE},
        allow=("bash(touch *)",),
    ),
    Conversation(
        name="a skill, and a file that is mentioned",
        prompts=("/deploy see @b.txt, to staging",),
        bundle={"script": saying("{{prompt}}"), "tools": ("tool-skills",)},
        skills={"deploy": "Bring it to $ARGUMENTS."},
        files={"b.txt": "from disk\n"},
    ),
    Conversation(
        name="an image, and one that is none",
        bundle={"script": saying("I see.")},
        attached=(f"data:image/png;base64,{PIXEL}", "data:image/png;base64,bm90aGluZw=="),
        not_through={"screen": "a prompt there has no images yet"},
    ),
    Conversation(
        name="a list of what there is to do",
        bundle={
            "script": calling(
                {
                    "todo": {
                        "action": "create",
                        "todos": [{"content": "Look", "status": "in_progress"}],
                    }
                }
            ),
            "tools": ("tool-todo",),
        },
        allow=("todo",),
    ),
    Conversation(
        name="text that wants to be control and markup",
        prompts=("[bold]go[/]",),
        bundle={
            "script": calling(
                {"echo": {"text": "\x1b]0;title\x07[red]out\x1b[2J"}},
                say="\x1b[31m[b]red[/b]\x1b[0m \u202e",
                then="{{output}}",
            ),
            "tools": TEST,
        },
        allow=("echo",),
    ),
    Conversation(
        name="a limit that is passed once, and kept then",
        prompts=("go", "again"),
        bundle={"script": saying("Cheap words.")},
        limit=SpendLimit(tokens=10),
        answers=("go", "stop"),
    ),
)
