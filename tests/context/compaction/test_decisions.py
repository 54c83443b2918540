import json

from amplifier_tui.context.compaction.decisions import Decisions, Summary, packed, unpacked


def summary(name: str, *keys: str, **kwargs: str) -> Summary:
    return Summary(name, f"text of {name}", keys, **kwargs)


def test_each_model_has_decisions_of_its_own_and_the_last_few_are_kept() -> None:
    decisions = Decisions()
    decisions.of("a").rows = {"1": "drop"}
    assert decisions.of("b").rows == {}
    assert decisions.of("a").rows == {"1": "drop"}
    for name in "cdefg":
        decisions.of(name)
    assert decisions.peek("a").rows == {}


def test_looking_does_not_keep_anything() -> None:
    decisions = Decisions()
    decisions.peek("a")
    assert decisions.to_dict() == Decisions().to_dict()


def test_decisions_survive_the_way_through_json() -> None:
    decisions = Decisions()
    made = decisions.of("m@100")
    made.rows = {"3": "truncate", "5": "drop", "7": "drop", "x#1": "stub"}
    made.resume_at = 77
    made.summaries = (summary("t", "9", role="assistant"),)
    decisions.summarize(summary("s", "1", "2", instructions="keep names", at="2026-01-01"))
    again = Decisions()
    again.restore(json.loads(json.dumps(decisions.to_dict())))
    assert again.to_dict() == decisions.to_dict()
    assert again.of("m@100").rows == made.rows
    assert again.of("m@100").summaries == made.summaries


def test_saved_nonsense_is_left_out() -> None:
    decisions = Decisions()
    decisions.restore(
        {
            "models": {
                "a": {"rows": {"explode": ["1"], "drop": ["2", 3], "stub": 4}, "resume_at": "x"},
                "b": 7,
            },
            "summaries": [{"text": ""}, {"text": "x", "keys": []}, 5, {"text": "y", "keys": [1]}],
        }
    )
    assert decisions.of("a").rows == {"2": "drop", "3": "drop"}
    assert [s.keys for s in decisions.summaries] == [("1",)]
    decisions.restore("nothing of the kind")
    assert decisions.to_dict() == Decisions().to_dict()


def test_a_new_summary_takes_the_place_of_those_it_covers() -> None:
    decisions = Decisions()
    decisions.summarize(summary("old", "1", "2"))
    decisions.summarize(summary("other", "9"))
    decisions.summarize(summary("new", "1", "2", "3"))
    assert [s.summary_id for s in decisions.summaries] == ["other", "new"]


def test_a_summary_is_labelled_and_linked_to_what_it_replaced() -> None:
    row = summary("s", "4", "5").row()
    assert row["role"] == "user"
    assert "Summary of 2 earlier messages" in row["content"]
    assert row["metadata"] == {"source": "compaction", "summary_id": "s", "summary_of": ["4", "5"]}


def test_a_line_of_a_rule_speaks_in_the_role_it_was_given() -> None:
    row = summary("s", "4", role="assistant").row()
    assert (row["role"], row["content"]) == ("assistant", "text of s")


def test_runs_of_rows_are_saved_as_one_and_single_keys_as_ever() -> None:
    keys = ["3", "4", "5", "9", "7.0", "12+c1", "memory#ab12"]
    assert packed(keys) == ["3-5 9", "12+c1", "7.0", "memory#ab12"]
    assert sorted(unpacked(packed(keys))) == sorted(keys)
    assert list(unpacked(["0-99999999", "8"])) == ["8"]


def test_decisions_of_older_sessions_are_read() -> None:
    decisions = Decisions()
    saved = {"rows": {"drop": ["0", "1", "2"], "truncate": ["5"]}, "resume_at": 0}
    decisions.restore({"models": {"m@1": saved}})
    assert decisions.of("m@1").rows == {"0": "drop", "1": "drop", "2": "drop", "5": "truncate"}
    assert decisions.to_dict()["models"]["m@1"]["rows"] == {"drop": ["0-2"], "truncate": ["5"]}
