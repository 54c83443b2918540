import pytest

from amplifier_tui.ui.app import pace


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
    monkeypatch.setenv(name, environ[name])
    assert pace.stream_period() == pace.SLOW_STREAM
