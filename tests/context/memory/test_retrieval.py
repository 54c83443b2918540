from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.context.memory.retrieval import bigrams, match_expression


def test_words_are_searched_for_one_by_one() -> None:
    assert match_expression("How do we run the integration tests?") == (
        'text : "integration" OR text : "tests" OR text : "run"'
    )


def test_writing_without_spaces_is_searched_by_pairs() -> None:
    assert bigrams("設定ファイル and 語") == "設定 定フ ファ ァイ イル ル 語"
    assert match_expression("設定ファ") == 'cjk : "設定" OR cjk : "定フ" OR cjk : "ファ"'
    assert match_expression("語") == 'cjk : "語"*'


def test_common_words_and_signs_are_nothing_to_search_for() -> None:
    assert match_expression("what is it with the ... ?!") == ""
    assert match_expression("") == ""


@given(st.text(max_size=300))
def test_an_expression_has_few_terms(text: str) -> None:
    assert match_expression(text * 3).count(" OR ") < 32


def test_a_pasted_book_is_not_read_to_its_end() -> None:
    assert "zebra" not in match_expression("word " * 100_000 + "zebra " + "word " * 100_000)
