"""Ledger files: everything wrong is reported at once, with its path and the fix, and never a traceback."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certify.instance_file import InstanceError
from constants.ledger import SHIPPED, Domain, Role, default_ledger
from constants.ledger_file import parse_ledger, read_ledger

TEXT = SHIPPED.read_text(encoding="utf-8")

SMALL = """
[paper.p]
title = "A paper"
edition = "first"

[constant.a-b]
paper_id = "p"
value = "3*exp(1)"
paper = "Lemma 1"
role = "bound"
used_by = ["lemma-1"]
printed = "2"
relations = ["c <= a_b"]

[constant.c]
paper_id = "p"
value = "1/2"
paper = "Lemma 2"
role = "parameter choice"
used_by = ["lemma-1", "lemma-2"]
domain = "positive-rational"
"""


def problems(text: str) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        parse_ledger(text, "copy.toml")
    assert str(caught.value).startswith("copy.toml: ")
    return [f"{problem.path}: {problem.message}" for problem in caught.value.problems]


def test_a_small_ledger_is_read() -> None:
    ledger = parse_ledger(SMALL)
    constant = ledger["a-b"]
    assert (constant.name, constant.paper, constant.role) == ("a_b", "Lemma 1", Role.BOUND)
    assert constant.printed is not None and constant.printed.text() == "2"
    assert [relation.text() for relation in constant.relations] == ["c <= a_b"]
    assert ledger.named("a_b") is constant
    assert ledger["c"].domain is Domain.POSITIVE_RATIONAL
    assert ledger.papers["p"].edition == "first"


@pytest.mark.parametrize("field", ["paper_id", "value", "paper", "role", "used_by"])
def test_every_source_field_is_required(field: str) -> None:
    lines = [line for line in SMALL.splitlines() if not line.startswith(f"{field} = ")]
    found = problems("\n".join(lines))
    for constant_id in ("a-b", "c"):
        assert any(line.startswith(f"constant.{constant_id}: {field} is missing") for line in found)


@pytest.mark.parametrize("field", ["title", "edition"])
def test_every_field_of_a_paper_is_required(field: str) -> None:
    found = problems("\n".join(line for line in SMALL.splitlines() if not line.startswith(f"{field} = ")))
    assert found[0].startswith(f"paper.p: {field} is text")


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('"3*exp(1)"', "3", "constant.a-b.value: the value is text in quotes"),
        ('"3*exp(1)"', "0.5", "constant.a-b.value: the value is text in quotes"),
        ('"3*exp(1)"', '"3*"', "constant.a-b.value: column 3"),
        ('"3*exp(1)"', '"3*e"', 'constant.a-b.value: "e" is a name'),
        ('"3*exp(1)"', '"0"', "constant.a-b.value: the number must be positive"),
        ('"3*exp(1)"', '"-1"', "constant.a-b.value: the number must be positive"),
        ('"3*exp(1)"', '"exp(1) - exp(1)"', "constant.a-b.value: the number must be positive"),
        ('"3*exp(1)"', '"2^5000"', "constant.a-b.value: the number must be at most 2^4096"),
        ('"3*exp(1)"', '"2^-5000"', "constant.a-b.value: the number must be positive, and not beyond"),
        ('"3*exp(1)"', '"exp(exp(100))"', "constant.a-b.value: "),
        ('"3*exp(1)"', '"10^(10^9)"', "constant.a-b.value: "),
        ('"3*exp(1)"', '"1/0"', "constant.a-b.value: division by zero"),
        ('"3*exp(1)"', '"log(-1)"', "constant.a-b.value: the logarithm"),
        ('"3*exp(1)"', '"__import__(1)"', "constant.a-b.value: column 1"),
        ('"3*exp(1)"', f'"{"(" * 3000}"', "constant.a-b.value: "),
        ('"1/2"', '"exp(1)"', "constant.c.value: the program needs a rational number"),
        ('printed = "2"', 'printed = "two"', 'constant.a-b.printed: "two" is a name'),
        ('"bound"', '"bond"', 'constant.a-b.role: "bond" is none: did you mean "bound"?'),
        ('"bound"', "3", "constant.a-b.role: this is none"),
        ('domain = "positive-rational"', 'domain = "real"', 'constant.c.domain: "real" is none'),
        ('paper_id = "p"\nvalue = "3', 'paper_id = "q"\nvalue = "3', "constant.a-b.paper_id: there is no [paper.q]"),
        ('"Lemma 1"', '""', "constant.a-b.paper: paper is text in quotes, and not empty"),
        ('"Lemma 1"', '"\\u001b[31m"', "constant.a-b.paper: paper is one line"),
        ('["lemma-1"]', "[]", "constant.a-b.used_by: used_by is a list of texts, and not empty"),
        ('["lemma-1"]', '"lemma-1"', "constant.a-b.used_by: used_by is a list"),
        ('["lemma-1"]', '["x", "x"]', "constant.a-b.used_by: used_by lists something twice"),
        ('"c <= a_b"', '"c >= a_b"', "constant.a-b.relations[0]: "),
        ('"c <= a_b"', '"c = a_b"', "constant.a-b.relations[0]: "),
        ('"c <= a_b"', '"c + a_b"', "constant.a-b.relations[0]: "),
        ('"c <= a_b"', '"c <= a_b <= 9"', "constant.a-b.relations[0]: "),
        ('"c <= a_b"', '"c <= a_d"', 'constant.a-b.relations[0]: "a_d" is no constant: did you mean "a_b"?'),
        ('"c <= a_b"', '"c <= a-b"', "constant.a-b.relations[0]: "),
        ('"c <= a_b"', '"c <= 1"', "constant.a-b.relations[0]: it does not speak of a_b"),
        ("printed", "misprint", 'constant.a-b: a constant has no field "misprint"'),
        ("[paper.p]", "[papers.p]", '$: a ledger has no field "papers"'),
        ("[constant.c]", "[constant.C]", "constant.'C': an id has small letters"),
        ("[constant.c]", "[constant.exp]", "constant.'exp': an id has small letters"),
        ("[constant.c]", "[constant.c_d]", "constant.'c_d': an id has small letters"),
        ("[constant.c]", "[constant.a-b]", "$: is not TOML"),
        ("[paper.p]", "paper = 3\n[q]", "paper: there is none"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(before: str, after: str, problem: str) -> None:
    assert before in SMALL
    found = problems(SMALL.replace(before, after, 1))
    assert any(line.startswith(problem) for line in found), found
    assert all(line.isprintable() and len(line) < 1000 for line in found)


def test_everything_wrong_is_reported_at_once() -> None:
    text = SMALL.replace('"3*exp(1)"', '"3*"').replace('"bound"', '"bond"').replace('"1/2"', '"-1"')
    assert [line.split(": ")[0] for line in problems(text)] == [
        "constant.a-b.role",
        "constant.a-b.value",
        "constant.c.value",
    ]


@pytest.mark.parametrize("text", ["", "a = ", "[" * 5000, "x = " + "[" * 5000, "constant = 1", "\0", "[constant.a]"])
def test_text_that_is_no_ledger_is_refused(text: str) -> None:
    assert problems(text)


@given(st.text(max_size=60), st.integers(0, len(SMALL) - 1), st.integers(0, 20))
def test_a_ledger_with_any_text_pasted_over_is_read_or_refused(text: str, start: int, length: int) -> None:
    try:
        parse_ledger(SMALL[:start] + text + SMALL[start + length :])
    except InstanceError as error:
        assert error.problems


# copies


def copy(path: Path, *changes: tuple[str, str]) -> str:
    text = TEXT
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_copy_with_another_number_is_read(tmp_path: Path) -> None:
    text, ledger = read_ledger(copy(tmp_path / "copy.toml", ('value = "2^20*exp(1)"', 'value = "2^19*exp(1)"')))
    assert 'value = "2^19*exp(1)"' in text
    assert ledger["theorem-constant"].value.text() == "2^19*exp(1)"
    assert set(ledger.constants) == set(default_ledger().constants)


def test_a_copy_needs_every_constant_and_has_no_other(tmp_path: Path) -> None:
    path = copy(tmp_path / "copy.toml", ("[constant.sensitivity]", "[constant.sensibility]"))
    with pytest.raises(InstanceError) as caught:
        read_ledger(path)
    found = {problem.path: problem.message for problem in caught.value.problems}
    assert found["constant.sensitivity"].startswith("is missing: copy the shipped ledger")
    assert found["constant.sensibility"] == 'is not in the shipped ledger: did you mean "sensitivity"?'


def test_a_copy_cannot_widen_what_the_program_relies_on(tmp_path: Path) -> None:
    path = copy(tmp_path / "copy.toml", ('domain = "positive-integer"', 'domain = "positive-rational"'))
    with pytest.raises(InstanceError, match=r"constant.near-order.domain: the program relies on it"):
        read_ledger(path)


def test_paths_that_are_no_ledger_are_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bytes.toml"
    bad.write_bytes(b"\xff\xfe")
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (1024 * 1024 + 1))
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    expected = {
        str(tmp_path / "nowhere.toml"): "cannot be read (No such file or directory)",
        str(tmp_path): "is not a regular file",
        str(fifo): "is not a regular file",
        str(bad): "is not UTF-8 text",
        str(large): "is larger than 1,048,576 bytes",
        "": "is not a file name",
        "a\0b": "is not a file name",
    }
    for path, message in expected.items():
        with pytest.raises(InstanceError) as caught:
            read_ledger(path)
        assert [message in problem.message for problem in caught.value.problems] == [True]
