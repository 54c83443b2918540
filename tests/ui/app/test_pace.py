import pytest

from amplifier_tui.ui.app import pace
from amplifier_tui.ui.app.preferences import Preferences
from tests.ui.driving import running


def test_keys_are_drawn_often_and_the_users_own_rate_stays() -> None:
    environ: dict[str, str] = {}
    pace.set_beats(environ)
    assert int(environ["TEXTUAL_FPS"]) == pace.BEATS
    assert "TEXTUAL_ANIMATIONS" not in environ
    environ = {"TEXTUAL_FPS": "30"}
    pace.set_beats(environ)
    assert environ["TEXTUAL_FPS"] == "30"


@pytest.mark.parametrize("name", ["SSH_CONNECTION", "MOSH_CONNECTION"])
def test_over_a_network_streams_are_drawn_less_often_but_keys_as_often(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {name: "10.0.0.1 22"}
    pace.set_beats(environ)
    assert int(environ["TEXTUAL_FPS"]) == pace.BEATS
    assert environ["TEXTUAL_ANIMATIONS"] == "none"
    assert pace.stream_period() == pace.STREAM
    monkeypatch.delenv(pace.MOTION, raising=False)
    monkeypatch.setenv(name, environ[name])
    assert pace.stream_period() == pace.SLOW_STREAM


@pytest.mark.parametrize(
    ("environ", "motion", "reduced"),
    [
        ({}, "", False),
        ({"SSH_CONNECTION": "x"}, "", True),
        ({"SSH_CONNECTION": "x"}, "full", False),
        ({}, "reduced", True),
        ({pace.MOTION: "full", "SSH_CONNECTION": "x"}, "reduced", False),
        ({pace.MOTION: "loud", "SSH_CONNECTION": "x"}, "", True),
    ],
)
def test_what_the_user_says_of_motion_stands_above_the_line(
    environ: dict[str, str], motion: str, reduced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pace.set_beats(environ, motion)
    assert pace.is_reduced(environ) is reduced
    assert (environ.get("TEXTUAL_ANIMATIONS") == "none") is reduced
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert pace.stream_period() == pytest.approx(1 / 15 if reduced else 1 / 30)


async def test_motion_is_chosen_and_remembered() -> None:
    async with running() as drive:
        await drive.app.run_by_id("app.motion", "reduced")
        assert drive.app.animation_level == "none"
        await drive.app.run_by_id("app.motion", "full")
        assert drive.app.animation_level == "full"
        await drive.app.workers.wait_for_complete()
        await drive.app.run_by_id("app.motion")
        await drive.settle()
        assert "Motion: full" in drive.text()
    assert Preferences().motion == "full"
