"""The types of a set's columns, which its card names."""

from training.synthesis.training_set.columns import describe_columns


def test_a_column_has_the_type_of_all_its_values() -> None:
    rows = [
        {"id": "a", "dropped": [], "score": 1, "pair": {"text": "x", "more": None}, "ok": True, "deep": [[]], "gone": None},
        {"id": "b", "dropped": [{"flaw": "f"}], "score": 0.5, "pair": {"text": "y", "more": [1]}, "ok": False, "deep": [["z"]]},
    ]
    assert describe_columns(rows) == [
        {"name": "id", "dtype": "string"},
        {"name": "dropped", "list": [{"name": "flaw", "dtype": "string"}]},
        {"name": "score", "dtype": "float64"},
        {"name": "pair", "struct": [{"name": "text", "dtype": "string"}, {"name": "more", "list": "int64"}]},
        {"name": "ok", "dtype": "bool"},
        {"name": "deep", "list": {"list": "string"}},
        {"name": "gone", "dtype": "null"},
    ]


def test_a_column_of_several_types_is_left_to_the_reader() -> None:
    assert describe_columns([{"a": 1}, {"a": "one"}]) is None
    assert describe_columns([{"a": {}}]) is None
    assert describe_columns([]) is None
