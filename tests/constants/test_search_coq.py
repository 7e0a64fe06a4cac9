"""Coq's kernel on the smaller constants: it accepts every lemma that is exported, and no smaller constant."""

from functools import cache
from pathlib import Path

import pytest
from coq_kernel import accepted, needs_coq
from flint import fmpq
from rung_certificates import TUNED, shipped, shipped_results

from certify.claims.coq.export import Export, export
from certify.claims.coq.terms import number
from certify.exit_status import ExitStatus
from constants import command
from constants.search.certificate import SHIPPED, RungCertificate, certificate_text
from constants.search.chain import ClaimCheck
from constants.search.coq_export import claim_results, export_chain
from constants.search.rung import RUNGS

WITH_HISTOGRAM = {
    "claim_bc_10_sinh_1": "touches at w = 0, where interval arithmetic cannot decide",
    "claim_bc_10_mean_1": "cites claim_bc_10_sinh_1, which is left out",
}
LEFT_OUT = {name: WITH_HISTOGRAM if RUNGS[name].histogram else {} for name in RUNGS}

Capture = pytest.CaptureFixture[str]


@cache
def tuned(name: str) -> Export:
    """The claims in which the rung's numbers stand: (E), the theorem, the noisy histogram and the zero output."""
    checks = [check for check in shipped_results(name) if check.claim.id.startswith(TUNED)]
    return export_chain(shipped(name), checks)


@needs_coq
@pytest.mark.parametrize("name", ["4", "8", "9"])
def test_coq_accepts_the_final_inequality_and_the_theorem(name: str, tmp_path: Path) -> None:
    exported = tuned(name)
    for check in shipped_results(name):
        if check.claim.id.startswith("bc-thm."):
            assert f"claim_{check.claim.id.replace('-', '_').replace('.', '_')}_1" in exported.lemmas
    accepted(exported.text, tmp_path)


@needs_coq
def test_coq_accepts_the_lemmas_of_every_rung(tmp_path: Path) -> None:
    checks: dict[str, tuple[RungCertificate, ClaimCheck]] = {}
    for name in RUNGS:
        for check in shipped_results(name):
            if not check.claim.id.startswith(TUNED):
                checks.setdefault(check.claim.id, (shipped(name), check))
    exported = export([result for each, check in checks.values() for result in claim_results(each, [check])])
    assert len(exported.lemmas) > 60 and dict(exported.left_out) == WITH_HISTOGRAM
    accepted(exported.text, tmp_path)


@pytest.mark.parametrize("name", RUNGS)
def test_what_is_left_out_is_what_is_expected(name: str) -> None:
    exported = export_chain(shipped(name), shipped_results(name))
    assert dict(exported.left_out) == LEFT_OUT[name]
    conclusions = sum(3 if c.claim.chain is not None else len(c.claim.conclusions) for c in shipped_results(name))
    assert len(set(exported.lemmas)) + len(exported.left_out) == conclusions
    assert all(f"\nLemma {lemma} : " in exported.text for lemma in exported.lemmas)
    for word in ("Admitted", "admit", "Axiom", "Parameter", "Abort"):
        assert word not in exported.text


@needs_coq
@pytest.mark.parametrize("name", ["4", "9"])
def test_coq_rejects_a_constant_that_is_one_per_cent_smaller(name: str, tmp_path: Path) -> None:
    """Only the statement of the lemma about (E) is changed, not its proof."""
    checks = [check for check in shipped_results(name) if check.claim.id.startswith("bc-E.")]
    text = export_chain(shipped(name), checks).text
    constant = shipped(name).tuning.constant
    start = text.index("Lemma claim_bc_E_")
    end = text.index("Proof.", start)
    bound = f"<= {number(str(constant))}"
    assert text.count(bound, start, end) == 1
    lowered = text[start:end].replace(bound, f"<= {number(str(constant * fmpq(99, 100)))}")
    with pytest.raises(AssertionError, match="Numerical evaluation failed to conclude"):
        accepted(text[:start] + lowered + text[end:], tmp_path)


def test_the_command_writes_the_lemmas_and_says_what_is_left_out(tmp_path: Path, capsys: Capture) -> None:
    path, target = SHIPPED / "rung-9.json", tmp_path / "rung.v"
    assert command.run(["export", "--coq", str(target), str(path)]) == ExitStatus.PROVED
    exported = export_chain(shipped("9"), shipped_results("9"))
    assert target.read_text(encoding="utf-8") == exported.text
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"{target}: {len(exported.lemmas)} lemmas of {len(shipped_results('9'))} claims"
    assert rest == [f"  left out {name}: {reason}" for name, reason in WITH_HISTOGRAM.items()]


def test_a_certificate_that_the_checker_rejects_is_not_exported(tmp_path: Path, capsys: Capture) -> None:
    claims = {**shipped("4").claims, "bc-E.2": shipped("5").claims["bc-E.2"], "bc-E.\x1b": {}}
    path, target = tmp_path / "rung.json", tmp_path / "rung.v"
    path.write_text(certificate_text(RungCertificate(shipped("4").tuning, claims)), encoding="utf-8")
    assert command.run(["export", "--coq", str(target), str(path)]) == ExitStatus.REFUTED
    assert capsys.readouterr().out.splitlines() == [
        "REJECTED  bc-E.2  the certificate is for another claim",
        "REJECTED  bc-thm.2  'bc-E.2' is not among the claims proved before",
        "REJECTED  bc-E.\\x1b  C does not rest on such a claim",
        "rejected: 3 claims, so nothing is exported",
    ]
    assert not target.exists()


def test_the_certificate_itself_is_not_overwritten(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "rung.json"
    text = certificate_text(shipped("4"))
    path.write_text(text, encoding="utf-8")
    assert command.run(["export", "--coq", str(path), str(path)]) == ExitStatus.INVALID
    assert "--coq: " in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == text


def test_what_is_no_certificate_is_said(tmp_path: Path, capsys: Capture) -> None:
    path, target = tmp_path / "rung.json", tmp_path / "rung.v"
    path.write_text("{}", encoding="utf-8")
    assert command.run(["export", "--coq", str(target), str(path)]) == ExitStatus.INVALID
    assert '$.format: write "certify-rung/1"' in capsys.readouterr().err
    assert not target.exists()
