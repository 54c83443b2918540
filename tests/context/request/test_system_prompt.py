import pytest

from amplifier_tui.base.tokens import MESSAGE_TOKENS, text_tokens
from amplifier_tui.context.request.system_prompt import (
    AttributedPrompt,
    SystemPrompt,
    join_parts,
    split_prompt,
)


class Parts:
    def __init__(self, *parts: tuple[str, str]) -> None:
        self._parts = list(parts)

    async def __call__(self) -> str:
        raise AssertionError("a factory with parts is asked for them")

    async def parts(self) -> list[tuple[str, str]]:
        return self._parts


FILE = '<context_file paths="@ns:guide.md → /b/guide.md">\nGuide\n</context_file>'
OTHER = '<context_file paths="/b/plain.md">\nPlain\n</context_file>'


async def test_a_factory_with_parts_says_who_wrote_what() -> None:
    prompt = SystemPrompt()
    prompt.use(Parts(("bundle:coding", "Be good."), ("file:@ns:guide.md", FILE), ("x", "")))
    made = await prompt.make()
    assert made.text == f"Be good.\n\n---\n\n{FILE}"
    assert made.parts == (("bundle:coding", "Be good."), ("file:@ns:guide.md", FILE))


def test_files_stand_close_together_as_in_the_factorys_own_prompt() -> None:
    parts = [("bundle:a", "A"), ("file:x", "X"), ("file:y", "Y"), ("agent:b", "B")]
    assert join_parts(parts) == "A\n\n---\n\nX\n\nY\n\n---\n\nB"


def test_a_foreign_prompt_is_split_on_its_files() -> None:
    text = f"Be good.\n\n---\n\n{FILE}\n\n{OTHER}\n\nAnd brief."
    parts = split_prompt(text)
    assert [source for source, _ in parts] == [
        "system",
        "file:@ns:guide.md",
        "system",
        "file:/b/plain.md",
        "system",
    ]
    assert "".join(part for _, part in parts) == text


def test_a_block_that_is_not_closed_is_just_text() -> None:
    assert split_prompt('<context_file paths="a">\nno end') == [
        ("system", '<context_file paths="a">\nno end')
    ]
    assert split_prompt("") == []


@pytest.mark.parametrize("make", [lambda: "plain", lambda: None])
async def test_plain_functions_will_do(make: object) -> None:
    prompt = SystemPrompt()
    prompt.use(make)
    assert (await prompt.make()).text == (make() or "")


async def test_a_factory_that_fails_once_is_forgiven_with_the_last_prompt(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers = ["first", OSError("disk")]

    async def factory() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    prompt = SystemPrompt()
    prompt.use(factory)
    assert (await prompt.make()).text == "first"
    assert (await prompt.make()).text == "first"
    assert "disk" in caplog.text


async def test_a_factory_that_never_worked_fails_the_request() -> None:
    def factory() -> str:
        raise OSError("no such file")

    prompt = SystemPrompt()
    prompt.use(factory)
    with pytest.raises(OSError, match="no such file"):
        await prompt.make()


def test_the_message_is_as_large_as_its_parts() -> None:
    prompt = AttributedPrompt("Be good.", (("bundle:a", "Be good."),)).extended(
        [("time", "It is noon."), ("time", "Tea at four."), ("empty", "")]
    )
    entry = prompt.entry()
    assert entry is not None
    assert entry.message["content"] == "Be good.\n\nIt is noon.\nTea at four."
    assert dict(entry.parts) == {
        "bundle:a": text_tokens("Be good.") + MESSAGE_TOKENS,
        "time": text_tokens("It is noon.") + text_tokens("Tea at four."),
    }
    assert entry.tokens == sum(tokens for _, tokens in entry.parts)
    assert AttributedPrompt().entry() is None
