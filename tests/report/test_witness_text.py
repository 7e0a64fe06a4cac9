from flint import arb, fmpq
from hypothesis import example, given
from hypothesis import strategies as st
from sample_report import WITNESS, between

from certify.report.witness_text import full_witness, short_witness


def test_a_short_witness_starts_with_what_is_short() -> None:
    assert short_witness(WITNESS) == "a ratio R=3 ω=+first×2,-second x=yes:3,maybe:2"
    assert short_witness({}) == ""


def test_a_full_witness_leaves_nothing_out() -> None:
    assert full_witness(WITNESS) == [
        ("database", "yes: 3, no: 0, maybe: 2"),
        ("transcript", "+first, +first, -second"),
        ("R", "3"),
        ("quantity", "a ratio"),
    ]


def test_only_equal_neighbours_are_counted_together() -> None:
    assert short_witness({"transcript": ["+a", "-a", "-a", "-a", "+a"]}) == "ω=+a,-a×3,+a"


def test_numbers_are_exact_or_enclosed() -> None:
    witness = {
        "a": fmpq(1, 3),
        "b": between("1/3", "2/3"),
        "c": arb(2),
        "d": [fmpq(1, 2), [1, 2]],
        "e": {"f": {"g": 0}},
    }
    assert full_witness(witness) == [
        ("a", "1/3"),
        ("b", "[0.333333333333, 0.666666666667]"),
        ("c", "2"),
        ("d", "1/2, [1, 2]"),
        ("e", "f: {g: 0}"),
    ]
    assert short_witness({"b": between("1/3", "2/3"), "t": {"q": "-5/3"}}) == "b=[0.3333, 0.6667] t=q:-5/3"


def test_an_empty_vector_is_said_to_be_empty() -> None:
    assert full_witness({"transcript": [], "database": {}}) == [
        ("transcript", "nothing"),
        ("database", "nothing"),
    ]


def test_names_that_are_no_plain_words_are_quoted_and_escaped() -> None:
    name = 'a, b: "c" \x1b[31m\n\u202e'
    ((_, text),) = full_witness({"transcript": [name, "+è-1.5"]})
    assert text == '"a, b: \\"c\\" \\u001b[31m\\n\\u202e", +è-1.5'
    assert short_witness({"x\x07": {name: 1}}).isprintable()
    assert full_witness({"quantity": "[bold]x[/bold]\x9b"}) == [("quantity", "[bold]x[/bold]\\x9b")]


@given(st.text(), st.text(), st.integers(-5, 5))
@example("\x1b[2J", "\r\n\t\x00", 0)
@example("\udcff", "\u202e\u2066", 1)
@example("", "", 2)
def test_no_name_disturbs_a_terminal(one: str, other: str, count: int) -> None:
    witness = {one: other, "transcript": [one, other, other], "database": {one: count, other: [other]}}
    assert short_witness(witness).isprintable()
    for name, text in full_witness(witness):
        assert name.isprintable()
        assert text.isprintable()
