"""Images in the conversation: small where they can be drawn, else a line of text."""

from concurrent.futures import Future

import pytest
from rich.color import Color
from textual.geometry import Offset
from textual.selection import Selection

from amplifier_tui.host.events import ImageCard
from amplifier_tui.ui.images.decoding import MOST_PIXELS
from amplifier_tui.ui.state.conversation.entries import ConversationEntry, ToolEntry, UserEntry
from amplifier_tui.ui.transcript.view import TranscriptView
from amplifier_tui.ui.widgets.messages import ImageRequested
from tests.pixels import RED, plain
from tests.ui.fake_imported import done, failed
from tests.ui.transcript.stage import Stage, stage, until

FILE = plain(80, 40)
CARD = ImageCard(
    key="k", media_type="image/png", name="sea.png", width=80, height=40, size=len(FILE)
)
WORDS = f"sea.png · 80x40 PNG · {len(FILE)} B"


def prompt(*cards: ImageCard) -> UserEntry:
    named = tuple(f"shots/{card.name}" for card in cards)
    return UserEntry(key="u", text="look", turn=1, attachments=(*named, "a.txt"), images=cards)


def call(*cards: ImageCard) -> ToolEntry:
    arguments = {"file_path": "sea.png"}
    return ToolEntry(key="t", tool="read_file", arguments=arguments, state="ok", images=cards)


def give(key: str, lane: str) -> "Future[bytes]":
    return done(FILE)


def drawn(app: Stage) -> list[int]:
    """Return the rows that show an image, and check that all of it is red."""
    rows = [number for number, text in enumerate(app.rows) if "▀" in text]
    red = Color.from_rgb(*RED)
    for row in rows:
        found = [each for each in app.view.render_line(row) if "▀" in each.text]
        assert {each.style.color for each in found if each.style} == {red}
        assert {each.style.bgcolor for each in found if each.style} == {red}
    return rows


@pytest.mark.parametrize("entry", [prompt(CARD), call(CARD)], ids=["prompt", "tool"])
async def test_an_image_is_drawn_with_what_it_is_below_it(entry: UserEntry | ToolEntry) -> None:
    async with stage([entry]) as (app, pilot):
        assert f"image: {WORDS}" in "\n".join(app.rows)
        app.view.use_images(give)
        await until(pilot, lambda: len(drawn(app)) == 10)
        rows = drawn(app)
        assert rows == list(range(rows[0], rows[0] + 10))
        assert app.rows[rows[0]].count("▀") == 40
        assert app.rows[rows[-1] + 1].endswith(WORDS)
        app.view.use_images(None)
        assert not drawn(app) and f"image: {WORDS}" in "\n".join(app.rows)


async def test_a_file_that_is_no_image_is_still_named() -> None:
    async with stage([prompt(CARD)]) as (app, _):
        assert "with a.txt" in "\n".join(app.rows)
        assert "shots/sea.png" not in "\n".join(app.rows)


async def test_rows_do_not_move_when_the_image_comes() -> None:
    waiting: Future[bytes] = Future()
    async with stage([prompt(CARD), UserEntry(key="v", text="after", turn=2)]) as (app, pilot):
        app.view.use_images(lambda *_: waiting)
        await pilot.pause()
        before = app.rows
        assert not drawn(app) and any(WORDS in row for row in before)
        waiting.set_result(FILE)
        await until(pilot, lambda: drawn(app))
        assert [row.replace("▀", "").rstrip() for row in app.rows] == before


async def test_a_narrow_screen_has_a_smaller_image_of_the_same_proportions() -> None:
    async with stage([call(CARD)], size=(40, 12)) as (app, pilot):
        app.view.use_images(give)
        await until(pilot, lambda: drawn(app))
        width = app.rows[drawn(app)[0]].count("▀")
        assert len(drawn(app)) == (round(40 * width / 80) + 1) // 2 < 10
        await pilot.resize_terminal(120, 36)
        await until(pilot, lambda: len(drawn(app)) == 10)


@pytest.mark.parametrize(
    ("card", "answer", "said"),
    [
        (CARD, failed(RuntimeError("it is not stored any more")), "it is not stored any more"),
        (CARD, done(FILE[:50]), "it can't be read"),
        (ImageCard(key="k", media_type="image/png"), done(FILE), "its size can't be read"),
        (
            ImageCard(key="k", media_type="image/png", width=MOST_PIXELS, height=2),
            done(FILE),
            "more than 16 million pixels",
        ),
    ],
)
async def test_what_can_not_be_drawn_is_a_line_that_says_why(
    card: ImageCard, answer: "Future[bytes]", said: str
) -> None:
    async with stage([prompt(card)]) as (app, pilot):
        app.view.use_images(lambda *_: answer)
        await until(pilot, lambda: said in "\n".join(app.rows))
        assert "image: " in "\n".join(app.rows) and not drawn(app)


def prompts(count: int) -> list[ConversationEntry]:
    """Return prompts with an image each, its number is its key."""
    return [
        UserEntry(
            key=f"u{number}",
            text="look",
            turn=number,
            images=(ImageCard(key=str(number), media_type="image/png", width=80, height=40),),
        )
        for number in range(1, count + 1)
    ]


async def test_only_what_is_on_the_screen_is_asked_for() -> None:
    asked: list[tuple[str, str]] = []

    def fetch(key: str, lane: str) -> "Future[bytes]":
        asked.append((key, lane))
        return done(FILE)

    async with stage(prompts(29)) as (app, pilot):
        app.view.use_images(fetch)
        await until(pilot, lambda: drawn(app))
        assert asked and {key for key, _ in asked} <= {"27", "28", "29"}
        assert {lane for _, lane in asked} == {"main"}


async def test_enter_and_a_click_on_an_image_open_it_and_the_cursor_leaves_its_colours() -> None:
    async with stage([call(CARD)]) as (app, pilot):
        app.view.use_images(give)
        await until(pilot, lambda: drawn(app))
        await pilot.click(TranscriptView, offset=(20, drawn(app)[0]))
        app.view.focus()
        await pilot.pause()
        assert len(drawn(app)) == 10
        await pilot.press("enter")
        await pilot.pause()
        assert [type(each) for each in app.told] == [ImageRequested, ImageRequested]
        app.view.use_images(None)
        await pilot.press("enter")
        await pilot.pause()
        assert len(app.told) == 2


async def test_the_cells_of_an_image_are_not_copied() -> None:
    async with stage([prompt(CARD)]) as (app, pilot):
        app.view.use_images(give)
        await until(pilot, lambda: drawn(app))
        everything = Selection(Offset(0, 0), Offset(79, 20))
        copied = app.view.get_selection(everything)
        assert copied is not None
        assert copied[0].split() == ["look", "with", "a.txt", *WORDS.split()]


async def test_what_came_on_the_screen_last_is_drawn_before_what_was_scrolled_past() -> None:
    waiting: dict[str, Future[bytes]] = {}

    def fetch(key: str, lane: str) -> "Future[bytes]":
        return waiting.setdefault(key, Future())

    async with stage(prompts(30)) as (app, pilot):
        app.view.use_images(fetch)
        await until(pilot, lambda: waiting)
        while app.view.scroll_y:
            app.view.scroll_page_up(animate=False)
            await pilot.pause()
        assert len(waiting) == 1 and app.rows
        next(iter(waiting.values())).set_result(FILE)
        await until(pilot, lambda: len(waiting) == 2)
        assert int(list(waiting)[1]) < 4


async def test_an_image_that_failed_is_tried_again_when_images_are_wanted_anew() -> None:
    async with stage([prompt(CARD)]) as (app, pilot):
        app.view.use_images(lambda *_: failed(RuntimeError("not now")))
        await until(pilot, lambda: "not now" in "\n".join(app.rows))
        app.view.use_images(None)
        app.view.use_images(give)
        await until(pilot, lambda: drawn(app))


async def test_each_image_of_a_very_high_screen_is_asked_for_once() -> None:
    dot, asked = plain(1, 1), list[str]()
    entries: list[ConversationEntry] = []
    for turn in range(17):
        cards = [
            ImageCard(key=f"{turn}.{at}", media_type="image/png", width=1, height=1)
            for at in range(4)
        ]
        entries.append(UserEntry(key=f"u{turn}", text="x", turn=turn, images=tuple(cards)))

    def fetch(key: str, lane: str) -> "Future[bytes]":
        asked.append(key)
        return done(dot)

    async with stage(entries, size=(80, 180)) as (app, pilot):
        app.view.use_images(fetch)
        await until(pilot, lambda: len(asked) >= 68 and not app.view._drawing)
        assert len(asked) == len(set(asked)) == 68
        assert "\n".join(app.rows).count("▀") == 68
