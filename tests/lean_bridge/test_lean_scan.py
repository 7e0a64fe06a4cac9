"""Blanking keeps every offset, whatever the text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lean_bridge.brackets import CLOSING, OPENING, Brackets
from lean_bridge.quotation import blank_quotations
from lean_bridge.reader import read_source
from lean_bridge.scan import code_points, scan

PIECES = [
    *("/-", "-/", "--", "/--", "/-!", '"', "'", "\\", "\n", " ", 's!"', 'r#"', '"#', "{", "}", "(", ")", "[", "]"),
    *("⟨", "⟩", "`(", "@[", "«", "»", ":=", ":", "|", "=>", ",", ".", ".{", "where", "theorem ", "def ", "end ", "in "),
    *("open A ", "namespace A ", "structure S ", "inductive I ", "instance ", "extends ", "deriving ", "mutual ", "x"),
    *("private ", "let ", "have ", "fun ", "sorry", "#doc ", "\r", "\t", "é", "λ", "∀", "alias ", "export ", "#exit"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@given(TEXTS)
@example("/-" * 3 + "-/")
@example("'\\'' \"\\\"")
@example('s!"{s!"{')
@example("/--/ x")
def test_length_and_line_breaks_survive(text: str) -> None:
    code = scan(text).code
    assert len(code) == len(text)
    assert [i for i, c in enumerate(code) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]


@given(TEXTS)
@example("structure A where\n  (x")
@example("instance :")
@example("theorem a : |x| = |y| := z")
@example("inductive I | | |")
@example("`(theorem a\n")
@example("@[")
@example("open A in")
@example("def a := b where")
def test_no_text_crashes_the_reader_and_positions_stay_inside(text: str) -> None:
    found = read_source("X.lean", text)
    lines = text.removeprefix("\ufeff").split("\n")
    for declaration in found.declarations:
        for line, column in (declaration.keyword, declaration.at, declaration.start, declaration.end):
            assert 1 <= line <= len(lines)
            assert 0 <= column <= len(lines[line - 1])
        line, column = declaration.at
        if declaration.kind in ("theorem", "def", "structure", "inductive", "field", "local"):
            written = declaration.name.rsplit(".", 1)[-1].strip("«»")
            assert written in lines[line - 1][column:]


@given(TEXTS)
def test_reading_twice_gives_the_same(text: str) -> None:
    assert read_source("X.lean", text) == read_source("X.lean", text)


@given(st.text(alphabet=OPENING + CLOSING + "x\n", max_size=80))
@example("(()")
@example(")(")
@example("([)]")
def test_brackets_agree_with_a_stack(text: str) -> None:
    brackets = Brackets(code_points(text))
    stack: list[int] = []
    pairs = {}
    depth = 0
    for at, char in enumerate(text):
        assert brackets.depth(at) == depth
        inner = stack[-1] if stack else None
        if inner is not None:
            close = brackets.enclosing_close(at)
            assert close == _partner(text, inner)
        if char in OPENING:
            stack.append(at)
            depth += 1
        elif char in CLOSING:
            depth -= 1
            if stack:
                pairs[stack.pop()] = at
    assert brackets.close == pairs


def _partner(text: str, opening: int) -> int | None:
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] in OPENING) - (text[at] in CLOSING)
        if depth == 0:
            return at
    return None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('x "a -- b" y', 'x "      " y'),
        ("x 'a' h'", 'x " " h\''),
        ("x -- y\nz", "x     \nz"),
        ("/-- d -/ x", "/--      x"),
        ('r#"a"b"# x', 'r#"    " x'),
        ('s!"{"a"}" x', 's!"     " x'),
        ("«a--b» x", "«a--b» x"),
        ("f '' s ''", "f '' s ''"),
        ('"open', '"open'),
    ],
)
def test_blanked_text(text: str, kept: str) -> None:
    assert scan(text).code == kept


def test_comments_go_and_literals_come_back() -> None:
    text = 'a "b" /- c -/ d -- e'
    assert scan(text).uncommented(0, len(text)).split() == ["a", '"b"', "d"]


def test_a_quotation_is_blanked_and_an_open_one_is_not() -> None:
    closed, open_ = "x `(theorem a : T) y", "x `(theorem a"
    assert blank_quotations(closed, Brackets(code_points(closed))) == "x `" + " " * len("(theorem a : T)") + " y"
    assert blank_quotations(open_, Brackets(code_points(open_))) == open_
    across = "x `(a\ntheorem b : T := c)\n"
    assert "theorem b" in blank_quotations(across, Brackets(code_points(across)))
