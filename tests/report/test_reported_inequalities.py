"""certify.report.reported_inequalities: what a report says is read back as it stands, or refused with every problem."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_report import IDENTITY, INAPPLICABLE, PROVED, sample

from certify.arithmetic.expression import parse_expression
from certify.engine.statement import ClosedCases, ClosedInequality, Outcome
from certify.instance_file import InstanceError
from certify.report.json_report import json_text
from certify.report.reported_inequalities import read_report

INEQUALITY = ClosedInequality(parse_expression("5*sqrt(2)"), parse_expression("8"), False, {"R": 3}, 4)
CLOSED = Outcome(**{**vars(PROVED), "closed": ClosedCases((INEQUALITY,), {"measured on the instance": 12})})
REPORT = sample(CLOSED, INAPPLICABLE)


def written(tmp_path: Path, change: Callable[[Any], Any] | None = None, copies: int = 1) -> str:
    path = tmp_path / "report.json"
    text = json_text([REPORT] * copies)
    if change is not None:
        data = json.loads(text)
        text = json.dumps(change(data) or data)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    (report,) = read_report(written(tmp_path))
    assert (report.path, report.sha256) == (IDENTITY.path, IDENTITY.sha256)
    first, second = report.statements
    assert (first.id, first.title, first.verdict) == ("lemma-1", "A bound that holds", "proved")
    (only,) = first.inequalities
    assert (only.lhs, only.rhs, only.strict, only.cases, only.witness) == (
        INEQUALITY.lhs,
        INEQUALITY.rhs,
        False,
        4,
        "R=3",
    )
    assert first.left_out == {"measured on the instance": 12}
    assert (second.closed, second.inequalities) == (False, ())


def test_a_list_of_reports_is_read(tmp_path: Path) -> None:
    assert len(read_report(written(tmp_path, copies=2))) == 2


def put(*place: str | int, value: Any) -> Callable[[Any], Any]:
    """Set an entry of the first statement's closed inequalities, or of the report."""

    def change(data: Any) -> None:
        for step in place[:-1]:
            data = data[step]
        data[place[-1]] = value

    return change


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


FIRST = ("statements", 0, "closed", "inequalities", 0)
AT = "$.statements[0].closed.inequalities[0]"


@pytest.mark.parametrize(
    ("change", "path", "part"),
    [
        (lambda data: "text", "$", "is not a report"),
        (lambda data: [data, []], "$[1]", "is not a report"),
        (put("schema", value="certify-report/2"), "$", "is not a report"),
        (put("statements", value={}), "$.statements", "is not a list"),
        (put("statements", 0, value=3), "$.statements[0]", "is not an object"),
        (put("statements", 0, "closed", value=3), "$.statements[0].closed", "is not an object or null"),
        (lambda data: data["statements"][0].pop("closed") and None, "$.statements[0].closed", "is missing"),
        (lambda data: data["statements"][0].pop("id") and None, "$.statements[0].id", "is missing"),
        (put(*FIRST, value=[]), AT, "is not an object"),
        (put(*FIRST, "lhs", value=3), f"{AT}.lhs", "is not a text"),
        (put(*FIRST, "lhs", value="1 +"), f"{AT}.lhs", "column 4"),
        (put(*FIRST, "lhs", value="epsilon"), f"{AT}.lhs", "unknown name"),
        (put(*FIRST, "lhs", value="__import__('os')"), f"{AT}.lhs", "is no number"),
        (put(*FIRST, "rhs", value="1/0"), f"{AT}.rhs", "division by zero"),
        (put(*FIRST, "rhs", value="1/(log(4) - 2*log(2))"), f"{AT}.rhs", "cannot be separated from 0"),
        (put(*FIRST, "rhs", value="log(-1)"), f"{AT}.rhs", "logarithm"),
        (put(*FIRST, "rhs", value="sqrt(1 - exp(1))"), f"{AT}.rhs", "square root"),
        (put(*FIRST, "strict", value=0), f"{AT}.strict", "is not true or false"),
        (put(*FIRST, "cases", value=True), f"{AT}.cases", "is not an integer"),
        (put(*FIRST, "witness", value=[]), f"{AT}.witness", "is not an object"),
        (put(*FIRST, "witness", value={"deep": nested(900)}), f"{AT}.witness", "nested too deeply"),
        (put("statements", 0, "closed", "left_out", value={"x": "y"}), "$.statements[0].closed.left_out.x", "integer"),
    ],
)
def test_what_is_wrong_is_named(change: Callable[[Any], Any], path: str, part: str, tmp_path: Path) -> None:
    with pytest.raises(InstanceError) as caught:
        read_report(written(tmp_path, change))
    (problem,) = caught.value.problems
    assert problem.path == path
    assert part in problem.message


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    def change(data: Any) -> None:
        put(*FIRST, "lhs", value="1 +")(data)
        put(*FIRST, "rhs", value="1/0")(data)
        put("statements", 1, "title", value=None)(data)

    with pytest.raises(InstanceError) as caught:
        read_report(written(tmp_path, change))
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"{", b"NaN", b"[" * 100_000, b'{"schema": 1' + b"0" * 5000 + b"}", b"[]"]
)
def test_what_is_not_json_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(InstanceError) as caught:
        read_report(str(path))
    ((place, message),) = caught.value.problems
    assert place == "$" and message.isprintable()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path in (str(tmp_path), str(tmp_path / "none.json"), "a\0.json", "/dev/null"):
        with pytest.raises(InstanceError):
            read_report(path)
