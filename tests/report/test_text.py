import re

import pytest
from flint import fmpq
from rich.cells import cell_len
from sample_report import (
    GIVEN_UP,
    INAPPLICABLE,
    PROVED,
    REFUTED,
    STRUCTURAL,
    UNDECIDED,
    WITNESS,
    Inapplicable,
    Proved,
    sample,
)

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.verdict import Verdict
from certify.engine.statement import Outcome, Worst
from certify.report.model import Summary
from certify.report.page import Page
from certify.report.text import heading, overall_text, report_text, verdict_line

EVERYTHING = (PROVED, REFUTED, UNDECIDED, INAPPLICABLE, STRUCTURAL)


def page(width: int) -> Page:
    return Page(width, colour=False)


def lines(*outcomes: Outcome, width: int = 80, quiet: bool = False) -> list[str]:
    return report_text(sample(*outcomes), page(width), quiet=quiet).splitlines()


def row(statement: str, text: list[str]) -> str:
    """The line of the table for one statement, which is the first to start with its id."""
    return next(line for line in text if line.startswith(f"{statement} "))


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    for line in lines(*EVERYTHING, width=width):
        assert cell_len(line) <= width
        assert line == line.rstrip()


@pytest.mark.parametrize("width", [80, 140])
def test_the_table_has_one_line_a_statement(width: int) -> None:
    text = lines(*EVERYTHING, width=width)
    table = text[text.index("") + 1 :]
    table = table[: table.index("")]
    assert [line.split()[0] for line in table] == [
        "statement",
        "lemma-1",
        "lemma-2",
        "lemma-3",
        "eq-4",
        "eq-5",
    ]


def test_a_line_says_worst_case_share_verdict_and_cases() -> None:
    text = lines(*EVERYTHING)
    assert " ".join(row("lemma-1", text).split()) == "lemma-1 A bound that holds 0.0138 ≤ 1 1.38% proved 1,200"
    assert " ".join(row("lemma-2", text).split()).endswith("1.25 > 1.2 104% REFUTED 77")
    assert " ".join(row("lemma-3", text).split()).endswith("1.1 ? 1 110% undecided 78")
    assert row("eq-4", text).endswith("not applicable")
    assert " ".join(row("eq-5", text).split()).endswith("by structure proved 9")


def test_a_wide_page_has_room_for_where_the_worst_case_is() -> None:
    assert "a ratio R=3 ω=+first×2,-second" in row("lemma-1", lines(*EVERYTHING, width=140))


def test_long_numbers_are_cut_before_anything_else_is_pushed_off_the_page() -> None:
    close = Worst(Enclosure.of(fmpq(1, 3)), Enclosure.of(fmpq(1, 3) + fmpq(1, 10**11)), {})
    name = "prop-4.1.transcript-of-every-database"
    named = type("Named", (Proved,), {"id": name})
    line = row(name, lines(Outcome(named, Verdict.PROVED, 10**12 - 1, close, 53, 0.0)))
    assert cell_len(line) <= 80
    assert "…" in line
    assert line.split()[-3:] == ["100%", "proved", "999,999,999,999"]


def test_a_refuted_statement_is_shown_with_its_whole_counterexample() -> None:
    text = lines(*EVERYTHING)
    start = text.index("REFUTED lemma-2  A bound that fails (§2, Lemma 2)")
    assert text[start + 1 : text.index("", start)] == [
        "  claim       p ≤ r",
        "  lhs         [1.25, 1.5]",
        "  rhs         [1.1, 1.2]",
        "  database    yes: 3, no: 0, maybe: 2",
        "  transcript  +first, +first, -second",
        "  R           3",
        "  quantity    a ratio",
        "  decided     at 128 bits, over 77 cases",
    ]


def test_a_long_counterexample_wraps_and_loses_nothing() -> None:
    transcript = [f"+query-{i}" for i in range(60)]
    witness = {**WITNESS, "transcript": transcript}
    assert REFUTED.worst is not None
    worst = Worst(REFUTED.worst.lhs, REFUTED.worst.rhs, witness)
    text = lines(Outcome(REFUTED.statement, Verdict.REFUTED, 77, worst, 53, 0.0))
    shown = " ".join(" ".join(text[text.index("") + 4 :]).split())
    assert ", ".join(transcript) in shown


def test_an_undecided_statement_says_why() -> None:
    text = lines(UNDECIDED)
    start = text.index("undecided lemma-3  A bound that nobody knows (§3, Lemma 3)")
    assert text[start + 1 : start + 5] == [
        "  claim       p ≤ s",
        "  reason      1 of 3 comparisons cannot be separated",
        "  lhs         [0.9, 1.1]",
        "  rhs         1",
    ]
    assert "  tried       at 53 bits, over 78 cases" in text
    given_up = lines(GIVEN_UP)
    assert "  reason  it ranges over too many pairs" in given_up
    assert not any("bits" in line for line in given_up)


def test_one_failed_hypothesis_is_said_once() -> None:
    other = type("Other", (Inapplicable,), {"id": "eq-6"})
    text = lines(INAPPLICABLE, Outcome(other, None, 0, None, 53, 0.0, INAPPLICABLE.reason))
    start = text.index("not applicable")
    assert text[start + 1 : start + 4] == ["  eq-4, eq-6", "    the hypothesis κ ≤ 1 fails: κ ≥ 2", ""]


def test_routes_of_proofs_without_numbers_are_named() -> None:
    text = lines(*EVERYTHING)
    start = text.index("proved without comparing numbers")
    assert text[start + 1] == "  eq-5  a maximum is at least its members"
    assert "proved without comparing numbers" not in lines(PROVED)


@pytest.mark.parametrize(
    ("outcomes", "line"),
    [
        (
            (PROVED, STRUCTURAL, INAPPLICABLE),
            "proved: 2 statements proved, 0 refuted, 0 undecided, 1 not applicable",
        ),
        ((PROVED, UNDECIDED), "undecided: 1 statement proved, 0 refuted, 1 undecided, 0 not applicable"),
        (EVERYTHING, "refuted: 2 statements proved, 1 refuted, 1 undecided, 1 not applicable"),
        ((INAPPLICABLE,), "not applicable: 0 statements proved, 0 refuted, 0 undecided, 1 not applicable"),
    ],
)
@pytest.mark.parametrize("quiet", [False, True])
def test_the_last_line_is_the_verdict(outcomes: tuple[Outcome, ...], line: str, quiet: bool) -> None:
    assert lines(*outcomes, quiet=quiet)[-1] == line
    assert verdict_line(sample(*outcomes).summary) == line


def test_quiet_keeps_what_failed() -> None:
    assert lines(PROVED, INAPPLICABLE, quiet=True) == [
        "proved: 1 statement proved, 0 refuted, 0 undecided, 1 not applicable"
    ]
    text = lines(*EVERYTHING, quiet=True)
    assert text[0].startswith("REFUTED lemma-2")
    assert not any(line.startswith(("statement", "lemma-1", "Z", "not applicable")) for line in text)


def test_quantities_stand_above_the_table_without_those_of_the_heading() -> None:
    text = lines(PROVED)
    above = "\n".join(text[: text.index("")])
    assert re.search(r"^Z +1\.06123", above) is None, "an inexact quantity is an interval"
    assert "[1.06123, 1.06124]" in above
    assert "[0.333333, 0.333334]" in above
    assert re.search(r"alpha_0 +1\.125", above)
    assert "branch  explicit" in above
    assert "transcripts" not in above


def test_several_instances_have_a_line_of_their_own() -> None:
    summaries = [Summary(3, 0, 0, 0), Summary(2, 0, 1, 0), Summary(0, 0, 0, 3), Summary(2, 1, 1, 0)]
    assert overall_text(summaries, page(80)).splitlines()[-1] == (
        "refuted: of 4 instances 1 proved, 1 refuted, 1 undecided, 1 not applicable"
    )


def test_markup_and_control_characters_of_names_stay_text() -> None:
    hostile = "[red]x[/red]\x1b[2J:smile:"
    assert REFUTED.worst is not None
    worst = Worst(REFUTED.worst.lhs, REFUTED.worst.rhs, {"transcript": [hostile], "database": {hostile: 1}})
    outcome = Outcome(REFUTED.statement, Verdict.REFUTED, 1, worst, 53, 0.0, None, (hostile,))
    for width in (80, 140):
        text = report_text(sample(outcome), page(width))
        assert "[red]x[/red]" in text
        assert ":smile:" in text
        assert "\x1b" not in text


def test_colours_only_where_the_page_has_them() -> None:
    plain = report_text(sample(*EVERYTHING), page(80))
    assert "\x1b" not in plain


def test_colours_change_nothing_but_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured = report_text(sample(*EVERYTHING), Page(80, colour=True))
    assert "\x1b[1;31mREFUTED" in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    plain = report_text(sample(*EVERYTHING), page(80))
    assert [line.rstrip() for line in stripped.splitlines()] == plain.splitlines()


def test_a_heading_wraps_beside_its_labels() -> None:
    text = heading([("instance", "x.json"), ("shows", "word " * 30)], page(80)).splitlines()
    assert text[0] == "instance  x.json"
    assert text[1].startswith("shows     word word")
    assert text[2].startswith("          word")
    assert text[-1] == ""
