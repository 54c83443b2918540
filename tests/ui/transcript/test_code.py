from rich.cells import cell_len

from amplifier_tui.ui.transcript.markdown import code
from amplifier_tui.ui.transcript.markdown.code import code_lines, highlighted, last_boundary


def test_a_known_language_is_highlighted() -> None:
    styles = {
        span.style for line in highlighted("def f(): return 'x'  # c", "python") for span in line
    }
    assert {"syn-keyword", "syn-string", "syn-comment", "syn-name"} <= styles


def test_an_unknown_or_absent_language_is_never_guessed() -> None:
    for language in ("", "no-such-language", "\x00"):
        spans = [
            span for line in highlighted("#!/usr/bin/python\nimport os", language) for span in line
        ]
        assert {span.style for span in spans} == {"fence"}


def test_highlighting_changes_no_character() -> None:
    source = "  if x:\n\n\ty = '''a\n b'''  \n\n# 漢字"
    for language in ("python", "yaml", "html", "c", "bash", "diff", ""):
        lines = highlighted(source, language)
        assert "\n".join(
            "".join(span.text for span in line) for line in lines
        ) == source.expandtabs(4)


def test_code_fills_its_surface_and_folds_long_lines() -> None:
    lines = code_lines("short\n" + "x" * 50, "", 30)
    assert [cell_len(line.text) for line in lines] == [30, 30, 30]
    assert [line.join for line in lines] == [None, "", None]
    assert [line.text.startswith("» ") for line in lines] == [False, False, True]
    assert all(line.lead == 2 for line in lines)


def test_code_is_not_cut_inside_a_string() -> None:
    assert last_boundary('a = 1\nb = """\nstill\ninside', "python") == 1
    assert last_boundary("a = 1\nb = 2\nc = 3", "python") == 2
    assert last_boundary("one\ntwo", "") == 1


def test_a_lexer_that_fails_costs_the_colours_only(monkeypatch, caplog) -> None:
    class Broken:
        def get_tokens(self, text: str):
            raise RecursionError("deep")

    monkeypatch.setattr(code, "_lexer", lambda language: Broken())
    assert [[span.text for span in line] for line in highlighted("a\nb", "python")] == [
        ["a"],
        ["b"],
    ]
    assert "plain" in caplog.text
