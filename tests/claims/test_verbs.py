"""The verbs universal, claims and export: what they print, write and return."""

import io
import json
from pathlib import Path

import pytest

from certify.arithmetic.verdict import Verdict
from certify.claims.checker import check
from certify.claims.command import run_claims, run_export, run_universal
from certify.claims.files import read_claims
from certify.command import run as command
from certify.exit_status import ExitStatus
from certify.instance_file import InstanceError
from certify.report.page import Output
from constants.ledger import default_ledger

EXAMPLE = Path(__file__).parents[2] / "examples" / "claims" / "chernoff.toml"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text('[[claim]]\nid = "square"\nvariables = { x = "[0, 1]" }\nclaim = "x^2 <= x"\n')
    return path


def run(verb: object, *arguments: str) -> tuple[ExitStatus, str]:
    stream = io.StringIO()
    return verb([*arguments], Output(stream)), stream.getvalue()  # type: ignore[operator]


def test_a_proved_file(mine: Path) -> None:
    status, text = run(run_claims, str(mine))
    assert status is ExitStatus.PROVED
    assert text.splitlines()[0] == "square  proved"
    assert text.splitlines()[-1].startswith("proved: 1 of 1 claims proved")


def test_a_refuted_file_shows_the_point(mine: Path) -> None:
    mine.write_text(mine.read_text().replace("x^2 <= x", "x^2 >= x"))
    status, text = run(run_claims, str(mine))
    assert status is ExitStatus.REFUTED
    assert "REFUTED (expected: proved)" in text
    assert "fails at x = 1/2" in text


def test_an_undecided_file_shows_the_reason(mine: Path) -> None:
    mine.write_text(mine.read_text().replace("x^2 <= x", "1/x >= 1"))
    status, text = run(run_claims, str(mine))
    assert status is ExitStatus.UNDECIDED
    assert "the denominator x may be 0" in text


def test_an_expected_refutation_is_no_failure() -> None:
    status, text = run(run_claims, str(EXAMPLE))
    assert status is ExitStatus.PROVED
    assert "refuted, as the file expects" in text
    status, quiet = run(run_claims, str(EXAMPLE), "--quiet")
    assert quiet == text.splitlines()[-1] + "\n"


def test_certificates_are_written_and_check(mine: Path, tmp_path: Path) -> None:
    target = tmp_path / "certificates.json"
    run(run_claims, str(mine), "--certificates", str(target))
    (claim,) = read_claims(mine, default_ledger())
    assert check(claim, json.loads(target.read_text())["square"]) is Verdict.PROVED


def test_a_claim_file_is_not_overwritten(mine: Path) -> None:
    for verb, arguments in (
        (run_claims, ["--certificates", str(mine), str(mine)]),
        (run_export, ["--coq", str(mine), str(mine)]),
    ):
        with pytest.raises(InstanceError):
            run(verb, *arguments)


@pytest.mark.parametrize("content", [None, b"\xff", b"[[claim]]"])
def test_unreadable_files_are_input_errors(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InstanceError):
        run(run_claims, str(path))
    with pytest.raises(InstanceError):
        run(run_claims, str(tmp_path))


def test_an_input_error_is_told_in_lines_and_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("x =", encoding="utf-8")
    for arguments in (["claims", str(path)], ["export", "--coq", str(tmp_path / "out.v"), str(path)]):
        assert command(arguments) is ExitStatus.INVALID
        header, problem = capsys.readouterr().err.splitlines()
        assert header == f"{path}: 1 problem"
        assert problem.startswith("  $: not TOML")
    assert not (tmp_path / "out.v").exists()


def test_export_writes_a_coq_file(mine: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine.v"
    status, text = run(run_export, "--coq", str(target), str(mine))
    assert status is ExitStatus.PROVED
    assert "1 lemmas" in text
    assert "Lemma claim_square_1 : forall x : R," in target.read_text()


def test_usage_is_argparses(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in (run_universal, run_claims, run_export):
        with pytest.raises(SystemExit):
            run(verb, "--help")
    assert "certify claims" in capsys.readouterr().out
