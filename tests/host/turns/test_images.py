"""The images of a conversation: told of as they come and again after a resume, and given."""

import base64
import json
from pathlib import Path

import pytest

from amplifier_tui.host.events import ImageCard, ImagesAdded, ToolEnded, TurnStarted
from amplifier_tui.host.store.replay import replay_of
from amplifier_tui.host.store.turns.images import images_in, stored_image
from tests.host.driving import Driver, Project, calling
from tests.pixels import plain

SEA, CHART = plain(30, 20), plain(7, 9, (0, 0, 255))


def told(driver: Driver) -> list[tuple[str, ImageCard]]:
    return [(event.call_id, card) for event in driver.of(ImagesAdded) for card in event.images]


def test_images_of_prompts_and_of_tools_are_told_of_and_given(
    project: Project, drive: type[Driver]
) -> None:
    (project.folder / "sea.png").write_bytes(SEA)
    (project.folder / "chart.png").write_bytes(CHART)
    script = calling({"read_file": {"file_path": "chart.png"}})
    name = project.bundle(script=script, tools=("tool-filesystem",))
    first: Driver = drive()
    opened = first.open(name)
    first.turn("What is in @sea.png and `@chart.png`?")
    (prompt, sea), (call, chart) = told(first)
    assert (prompt, call) == ("", first.of(ToolEnded)[0].call_id)
    assert (sea.name, sea.width, sea.height, sea.size) == ("sea.png", 30, 20, len(SEA))
    assert (chart.media_type, chart.width, chart.size) == ("image/png", 7, len(CHART))
    assert first.client.image(sea.key).result(5) == SEA
    assert first.client.image(chart.key, "main").result(5) == CHART
    for key, lane in (("none", "main"), (sea.key, "../" + opened.session_id), (sea.key, "")):
        with pytest.raises(RuntimeError, match="not stored in this session any more"):
            first.client.image(key, lane).result(5)
    first.close()
    second: Driver = drive()
    second.open(resume=opened.session_id)
    assert told(second) == told(first)
    assert second.of(ToolEnded)[0].output == first.of(ToolEnded)[0].output
    assert second.of(ToolEnded)[0].output_size == first.of(ToolEnded)[0].output_size
    assert second.of(TurnStarted)[0].prompt == "What is in @sea.png and `@chart.png`?"
    assert all(event.replayed for event in second.of(ImagesAdded))
    assert second.client.image(chart.key).result(5) == CHART


@pytest.mark.parametrize(
    "content",
    [
        None,
        "text",
        [{"type": "image"}, {"type": "image", "source": "x"}, 5],
        [{"type": "image", "source": {"media_type": 5, "data": "QUJD"}}],
        [{"type": "image", "source": {"media_type": "image/png", "data": ["x"]}}],
    ],
)
def test_rows_of_any_make_have_no_images_or_what_can_be_told_of(content: object) -> None:
    assert images_in({"role": "user", "content": content, "metadata": {"images": 5}}) == ()


def test_an_image_of_another_programs_making_is_given_and_not_named_in_the_prompt(
    tmp_path: Path,
) -> None:
    data = base64.b64encode(SEA).decode()
    block = {"type": "image", "source": {"media_type": "image/png", "data": data}}
    row = {"role": "user", "content": [{"type": "text", "text": "Look"}, block]}
    (tmp_path / "transcript.jsonl").write_text(json.dumps(row) + "\n")
    replay = replay_of(tmp_path)
    started, added = replay.events(0, 1)
    assert isinstance(started, TurnStarted) and started.prompt == "Look"
    assert isinstance(added, ImagesAdded)
    assert stored_image(tmp_path, "main", added.images[0].key) == SEA


@pytest.mark.parametrize("data", ["€€€€", "A", "\ud800", "QUJD" * 3])
def test_an_image_whose_head_is_no_good_is_told_of_without_a_size(data: str) -> None:
    block = {"type": "image", "source": {"media_type": "image/png", "data": data}}
    (card,) = images_in({"role": "tool", "content": [block]})
    assert (card.width, card.height, card.name) == (0, 0, "")


def test_what_is_no_base64_is_not_given(tmp_path: Path) -> None:
    line = '{"content": [{"type": "image", "source": {"type": "base64", "media_type": "a", '
    (tmp_path / "transcript.jsonl").write_text(line + '"data": "???"}}]}\n')
    (card,) = images_in(
        {"content": [{"type": "image", "source": {"media_type": "a", "data": "???"}}]}
    )
    with pytest.raises(ValueError, match="base64 can't be read"):
        stored_image(tmp_path, "main", card.key)
