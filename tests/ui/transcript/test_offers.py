from textual.message import Message

from amplifier_tui.ui.state.conversation.entries import (
    ErrorEntry,
    ProviderLine,
    TextEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.transcript.view import TranscriptView
from amplifier_tui.ui.widgets.messages import (
    ActionWanted,
    ForkRequested,
    LinkClicked,
    PromptOffered,
    RetryRequested,
)
from tests.ui.transcript import stage as stages
from tests.ui.transcript.conversation import adding
from tests.ui.transcript.test_entries import HOSTILE, drawn

SOURCE = ErrorEntry(
    key="e",
    kind="context_source",
    message="The source failed.",
    remedy="Try again, or go on without it.",
    retryable=True,
    source="memory",
    prompt="hi",
)
CARD = WelcomeEntry(
    key="w",
    bundle="coding",
    mode="ask",
    examples=("Explain it",),
    missing=("A_KEY", "B_KEY"),
    problem="No provider is ready",
    remedy="Set A_KEY or B_KEY in the environment.",
    providers=(ProviderLine("provider-a", ("A_KEY",)), ProviderLine("provider-bb", ("B_KEY",))),
)


class Stage(stages.Stage):
    def on_action_wanted(self, event: ActionWanted) -> None:
        self.told.append(event)

    def on_prompt_offered(self, event: PromptOffered) -> None:
        self.told.append(event)

    def on_fork_requested(self, event: ForkRequested) -> None:
        self.told.append(event)


async def clicked(entry: object, *words: str) -> list[Message]:
    app = Stage()
    async with app.run_test(size=(100, 24)) as pilot:
        app.view.apply(adding([entry]))
        await pilot.pause()
        for word in words:
            row = max(y for y, line in enumerate(app.rows) if word in line)
            await pilot.click(TranscriptView, offset=(app.rows[row].index(word), row))
            await pilot.pause()
        return app.told


def test_a_failed_source_offers_two_ways_and_no_empty_row() -> None:
    assert drawn(SOURCE)[1:] == [
        "  █ ✗ The source failed.",
        "  █ Try again, or go on without it.",
        "  █ Your prompt is kept. In the draft, right edits it and typing replaces it.",
        "  █ ctrl+x r try again   ctrl+x g go on without memory",
    ]


def test_an_error_without_anything_to_do_ends_with_its_words() -> None:
    assert drawn(ErrorEntry(key="e", kind="x", message="It broke."))[1:] == ["  █ ✗ It broke."]


def test_a_conversation_that_is_too_long_offers_to_compact_it_where_that_helps() -> None:
    entry = ErrorEntry(key="e", kind="context_length", message="Too long.", remedy="Compact it.")
    assert drawn(entry)[-1] == "  █ ctrl+x c compact the conversation"
    entry = ErrorEntry(key="e", kind="context_length", message="Too long.", remedy="Shorten it.")
    assert not any("compact" in line for line in drawn(entry))


def test_what_is_offered_is_not_broken_in_two() -> None:
    rows = [line.strip() for line in drawn(SOURCE, width=44)]
    assert rows[-2:] == ["█ ctrl+x r try again", "█ ctrl+x g go on without memory"]


def test_a_variable_the_remedy_names_is_not_listed_once_more() -> None:
    entry = ErrorEntry(
        key="e",
        kind="no_provider",
        message="No provider.",
        remedy="Set A_KEY in the environment.",
        missing=("A_KEY",),
    )
    text = "\n".join(drawn(entry))
    assert text.count("A_KEY") == 1
    assert "ctrl+x w try the offline demo" in text


def test_the_card_names_every_provider_and_its_variable_once() -> None:
    rows = drawn(CARD)
    assert rows[1:] == [
        "    bundle coding   mode ask",
        "",
        "    ! No provider is ready",
        "    ✗ provider-a   A_KEY is not set",
        "    ✗ provider-bb  B_KEY is not set",
        "",
        "    Put one of them into keys.env and open again, or set it before you start.",
        "    ctrl+x # paste a key   ctrl+x w try the offline demo",
        "    ctrl+x b choose a bundle   ctrl+x n open again",
        "",
        "    @ file   / command   ! shell   F1 keys",
    ]


def test_the_card_keeps_a_remedy_that_says_something_else() -> None:
    card = WelcomeEntry(key="w", problem="Refused", remedy="Allow the host in settings.")
    assert "    Allow the host in settings." in drawn(card)


def test_the_card_says_what_came_of_the_last_try() -> None:
    card = WelcomeEntry(key="w", problem="No provider is ready", tried="Nothing was kept: no net.")
    assert "    ! Last try: Nothing was kept: no net." in drawn(card)


def test_hostile_words_on_the_card_are_harmless() -> None:
    card = WelcomeEntry(
        key="w",
        problem=HOSTILE,
        remedy=HOSTILE,
        tried=HOSTILE,
        missing=(HOSTILE,),
        providers=(ProviderLine(HOSTILE, (), HOSTILE), ProviderLine(HOSTILE, (HOSTILE,))),
    )
    text = "\n".join(drawn(card))
    assert not any(character in text for character in "\x1b\x07\x9b\u202e\u200b\t")
    assert "[red]x[/red]" in text


async def test_both_ways_can_be_clicked() -> None:
    told = await clicked(SOURCE, "try again", "go on without")
    retries = [message for message in told if isinstance(message, RetryRequested)]
    assert [message.without for message in retries] == ["", "memory"]


async def test_the_ways_out_of_a_missing_key_can_be_clicked() -> None:
    told = await clicked(CARD, "try the offline", "choose a bundle", "open again")
    assert [message.action for message in told if isinstance(message, ActionWanted)] == [
        "session.demo",
        "session.bundles",
        "session.new",
    ]


async def test_an_example_can_be_clicked_and_a_model_can_offer_none() -> None:
    card = WelcomeEntry(key="w", examples=("Explain it",))
    told = await clicked(card, "plain it")
    assert [message.text for message in told if isinstance(message, PromptOffered)] == [
        "Explain it"
    ]
    told = await clicked(TextEntry(key="t", text="[alpha](example:rm)"), "alpha")
    assert not any(isinstance(message, PromptOffered) for message in told)


async def test_a_model_cannot_write_a_link_that_does_something() -> None:
    entry = TextEntry(key="t", text="[alpha](demo:) and [beta](without:) and [gamma](retry:)")
    told = await clicked(entry, "alpha", "beta", "gamma")
    assert not any(isinstance(message, ActionWanted | RetryRequested) for message in told)
    assert len([message for message in told if isinstance(message, LinkClicked)]) <= 3


async def test_a_key_goes_on_without_the_source() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        app.view.apply(adding([SOURCE]))
        app.view.focus()
        await pilot.press("r", "w", "f")
        retries = [message for message in app.told if isinstance(message, RetryRequested)]
        assert [message.without for message in retries] == ["", "memory"]
        assert not any(isinstance(message, ForkRequested) for message in app.told)


async def test_a_prompt_is_forked_before_and_nothing_else_is() -> None:
    prompt = UserEntry(key="u", text="one", turn=1)
    others = [
        UserEntry(key="s", text="steer", steered=True),
        UserEntry(key="a", text="sub", turn=1, agent="x_scout"),
        TextEntry(key="t", text="answer"),
    ]
    app = Stage()
    async with app.run_test() as pilot:
        app.view.apply(adding([prompt, *others]))
        app.view.focus()
        await pilot.press("G", "f", "k", "f", "k", "f", "k", "f")
        forks = [message for message in app.told if isinstance(message, ForkRequested)]
        assert [message.entry for message in forks] == [prompt]
