"""The closed inequalities of reports as Coq lemmas: the kernel accepts what certify proved, and nothing false."""

import io
import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from coq_kernel import accepted, needs_coq, without_comments

from certify.claims.command import run_export
from certify.claims.coq.closed import closed_lemma
from certify.claims.coq.export import Export, export
from certify.claims.coq.terms import NotInCoq
from certify.claims.relation import parse_relation
from certify.command import run
from certify.exit_status import ExitStatus
from certify.report.page import Output
from certify.report.reported_inequalities import ReportedInequality, ReportedInstance, ReportedStatement

EXAMPLES = Path(__file__).parents[2] / "examples"
CHECKED = {
    "growth": (),
    "zero-branch": (),
    "singleton": (),
    "selection/sampling-filtering-2-80": (),
    "selection/compare-to-thresholds": (),
    "selection/exponential": (),
    "theorem": (
        "eq-6.far",
        "eq-7.growth",
        "lemma-7.1",
        "eq-7.damping",
        "eq-8.choice",
        "eq-8.growth",
        "eq-8.6",
        "eq-8.7",
    ),
}
EXPECTED = {
    "growth": {"eq-6.near": 50, "eq-7.growth": 2, "lemma-7.1": 4, "eq-7.damping": 4, "sec-9.radius-sum": 4},
    "theorem": {"eq-6.far": 16, "eq-7.growth": 2, "eq-8.choice": 3, "eq-8.growth": 5, "eq-8.6": 1, "eq-8.7": 1},
    "zero-branch": {"thm-1.1": 2},
}


@cache
def report_text(name: str) -> str:
    """What `certify examples/NAME.json --json FILE` writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "report.json")
        chosen = ["--statements", ",".join(CHECKED[name])] if CHECKED[name] else []
        run([str(EXAMPLES / f"{name}.json"), "--quiet", "--json", str(path), *chosen])
        return path.read_text(encoding="utf-8")


def exported(folder: Path, *reports: str, more: tuple[str, ...] = ()) -> str:
    """The Coq file for these report texts."""
    paths = []
    for i, text in enumerate(reports):
        paths.append(folder / f"report{i}.json")
        paths[-1].write_text(text, encoding="utf-8")
    stream = io.StringIO()
    status = run_export(["--coq", str(folder / "out.v"), *map(str, paths), *more], Output(stream))
    assert status is ExitStatus.PROVED
    return (folder / "out.v").read_text(encoding="utf-8")


def lemmas(text: str) -> list[str]:
    return re.findall(r"^Lemma (case_\w+)", text, flags=re.MULTILINE)


def by_hand(*texts: str, **words: str) -> Export:
    """The export of a report that says these inequalities."""
    inequalities = []
    for text in texts:
        relation = parse_relation(text).upward()
        inequalities.append(ReportedInequality(relation.lhs, relation.rhs, relation.strict, 1, ""))
    given = {"id": "s", "title": "t", "source": "u", "claim": "c", "verdict": "proved", **words}
    statement = ReportedStatement(**given, closed=True, inequalities=tuple(inequalities), left_out={})
    return export([], [ReportedInstance("i.json", "0" * 64, (statement,))])


@needs_coq
def test_coq_accepts_every_inequality_of_the_reports(tmp_path: Path) -> None:
    text = exported(tmp_path, *(report_text(name) for name in CHECKED))
    accepted(text, tmp_path)
    listed = [
        each
        for name in CHECKED
        for statement in json.loads(report_text(name))["statements"]
        for each in (statement["closed"] or {"inequalities": []})["inequalities"]
    ]
    assert len(lemmas(text)) == len(set(lemmas(text))) == len(listed) > 150


@pytest.mark.parametrize("name", EXPECTED)
def test_the_statements_whose_cases_are_formulas_come_out(name: str, tmp_path: Path) -> None:
    text = exported(tmp_path, report_text(name))
    for statement, number in EXPECTED[name].items():
        stem = "case_" + re.sub(r"\W", "_", statement)
        assert len([each for each in lemmas(text) if re.fullmatch(rf"{stem}_\d+", each)]) == number


@pytest.mark.parametrize("name", CHECKED)
def test_every_statement_is_named_and_nothing_is_left_out_without_a_reason(name: str, tmp_path: Path) -> None:
    text = exported(tmp_path, report_text(name))
    for statement in json.loads(report_text(name))["statements"]:
        assert f"(* {statement['id']}: {statement['title']}" in text
        for reason, count in (statement["closed"] or {"left_out": {}})["left_out"].items():
            assert f"left out, {count:,} case{'' if count == 1 else 's'}: {reason}" in text
    code = without_comments(text)
    for word in ("Admitted", "admit", "Axiom", "Parameter", "Abort", "Hypothesis", "Variable"):
        assert word not in code


@needs_coq
@pytest.mark.parametrize(
    ("statement_id", "index", "side", "value"),
    [
        ("thm-1.1", 1, "rhs", "1048576*exp(1)*min(1/10000000, sqrt(log(6)*log(4)/10))"),
        ("lemma-7.1", 2, "rhs", "exp(1)/4"),
    ],
)
def test_coq_rejects_a_report_edited_to_say_something_false(
    statement_id: str, index: int, side: str, value: str, tmp_path: Path
) -> None:
    data: Any = json.loads(report_text("zero-branch"))
    (statement,) = [each for each in data["statements"] if each["id"] == statement_id]
    statement["closed"]["inequalities"][index][side] = value
    with pytest.raises(AssertionError, match="No applicable tactic"):
        accepted(exported(tmp_path, json.dumps(data)), tmp_path)


TRUE = [
    "exp(1) < 2.7182818284590453",
    "5*sqrt(2^-20) <= 1/100",
    "log(2) + log(3) > 179/100",
    "1/3 <= 1/3",
    "-2^2 <= -4",
    "(-2)^2 >= 4",
    "2 - (3 - 4) <= 3",
    "12/(2/3) <= 18",
    "12/2/3 <= 2",
    "-log(2) - -log(3) < 41/100",
    "log(2)^-3 <= 3.01",
    "log(2)^2000 > 0",
    "exp(-246000) < exp(-168000)",
    "min(1, log(2), 3)^2 < 0.481",
    "max(min(1/2, exp(1)), sqrt(2)) <= 1.4143",
    "max(1/2, 1/2) <= 1/2",
    "abs(log(1/2)) < 0.7",
    "sqrt(2)^2 <= 2 + 10^-60",
    "-1e400/3 < -1e-400",
]


@needs_coq
def test_coq_accepts_every_operation(tmp_path: Path) -> None:
    found = by_hand(*TRUE)
    assert len(found.lemmas) == len(TRUE)
    accepted(found.text, tmp_path)


FALSE = [
    "exp(1) < 2.71828",
    "1/3 < 1/3",
    "-2^2 >= 4",
    "2 - (3 - 4) <= 2",
    "12/(2/3) <= 2",
    "min(1, log(2)) >= 1",
    "max(1, log(2)) < 1",
    "exp(-168000) <= exp(-246000)",
    "sqrt(2)^2 < 2",
]


@needs_coq
def test_coq_proves_nothing_that_is_false(tmp_path: Path) -> None:
    found = by_hand(*FALSE)
    assert found.text.count("decided. Qed.") == len(FALSE)
    accepted(found.text.replace("decided. Qed.", "Fail decided. Abort."), tmp_path)
    with pytest.raises(AssertionError, match="No applicable tactic"):
        accepted(found.text, tmp_path)


@pytest.mark.parametrize(
    "text", ["ceil(log(2)) <= 1", "floor(5/2) <= 2", "2^(1/2) <= 3/2", "2^log(2) <= 2", "2^ceil(log(2)) <= 2"]
)
def test_what_coq_cannot_do_is_a_comment_with_the_reason(text: str) -> None:
    found = by_hand(text, "1 <= 2")
    assert found.lemmas == ("case_s_2",)
    assert set(found.left_out) == {"case_s_1"}
    assert f"left out: case_s_1, {text}: {found.left_out['case_s_1']}" in found.text
    assert "case_s_1" not in without_comments(found.text)


def test_a_lemma_is_the_difference_and_nothing_is_evaluated() -> None:
    relation = parse_relation("2*log(4)^2 - 1 < sqrt(9)*(1 + 1/3)")
    lemma = closed_lemma("l", relation.lhs, relation.rhs, strict=True)
    assert lemma.splitlines()[0] == "Lemma l : 0 < sqrt 9 * (1 + 1 / 3) - (2 * (ln 4) ^ 2 - 1)."
    with pytest.raises(NotInCoq):
        closed_lemma("l", parse_relation("x <= 1").lhs, relation.rhs, strict=True)


@needs_coq
def test_texts_of_a_report_stay_inside_comments(tmp_path: Path) -> None:
    evil = '*) Axiom cheat : False. (* " (* \n *) Axiom more : 0 = 1.\ud800'
    found = by_hand("1 <= 2", id=evil, title=evil, claim=evil, source=evil, verdict=evil)
    assert "Axiom " not in without_comments(found.text)
    assert len(found.lemmas) == 1
    accepted(found.text, tmp_path)


@needs_coq
def test_claims_and_reports_stand_in_one_file(tmp_path: Path) -> None:
    claim = tmp_path / "mine.toml"
    claim.write_text('[[claim]]\nid = "square"\nvariables = { x = "[0, 1]" }\nclaim = "x^2 <= x"\n', encoding="utf-8")
    text = exported(tmp_path, report_text("zero-branch"), more=(str(claim),))
    assert "Lemma claim_square_1 : forall x : R," in text
    assert "Lemma case_thm_1_1_1 : 0 <= 1 - 4 / 5." in text
    accepted(text, tmp_path)


def test_a_malformed_report_is_told_line_by_line_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(report_text("zero-branch"))
    statement = next(each for each in data["statements"] if each["id"] == "thm-1.1")
    statement["closed"]["inequalities"][0]["lhs"] = "1 +"
    statement["closed"]["inequalities"][1]["rhs"] = "n"
    (tmp_path / "report.json").write_text(json.dumps(data), encoding="utf-8")
    capsys.readouterr()
    status = run(["export", "--coq", str(tmp_path / "out.v"), str(tmp_path / "report.json")])
    shown = capsys.readouterr()
    assert status is ExitStatus.INVALID
    assert not shown.out
    header, first, second = shown.err.splitlines()
    assert header.endswith("report.json: 2 problems")
    assert ".inequalities[0].lhs: " in first and ".inequalities[1].rhs: " in second
    assert not (tmp_path / "out.v").exists()


def test_a_report_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    path.write_text(report_text("zero-branch"), encoding="utf-8")
    assert run(["export", "--coq", str(path), str(path)]) is ExitStatus.INVALID
    assert capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == report_text("zero-branch")
