"""The certificates that come with the package: accepted as they are, and rejected with anything altered."""

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from rung_certificates import (
    TUNED,
    at,
    places,
    replaced,
    shipped,
    shipped_claims,
    shipped_results,
)

from certify.arithmetic.exact import NUMBER, parse_rational
from certify.arithmetic.verdict import Verdict
from certify.claims.certificate import digest
from certify.claims.checker import check
from certify.claims.rejection import Rejected
from certify.exit_status import ExitStatus
from constants import command
from constants.search import chain as chain_module
from constants.search import command as search_command
from constants.search.certificate import (
    SHIPPED,
    RungCertificate,
    certificate_text,
    read_certificate,
    shipped_names,
    shipped_tuning,
)
from constants.search.rung import RUNGS, Envelope

Write = Callable[[Any], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write data as a certificate; its path."""

    def write(data: Any) -> str:
        path = tmp_path / "certificate.json"
        path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def without_lemmas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the lemmas, which do not depend on a tuning, of the chain, to save their time."""
    monkeypatch.setattr(chain_module, "_lemmas", lambda tuning: iter(()))


def data_of(name: str, *, lemmas: bool = False) -> Any:
    """The data of a certificate, without the lemmas unless they are wanted."""
    data = json.loads((SHIPPED / f"rung-{name}.json").read_text(encoding="utf-8"))
    if not lemmas:
        data["claims"] = {key: value for key, value in data["claims"].items() if key.startswith(TUNED)}
    return data


def sealed(certificate: Any) -> Any:
    """The certificate of a claim with the digest that belongs to it."""
    return {**certificate, "digest": digest(certificate)}


def test_every_rung_has_a_certificate_and_each_constant_is_below_the_one_before() -> None:
    assert shipped_names() == tuple(RUNGS)
    constants = [shipped_tuning(name).constant for name in shipped_names()]
    assert all(after < before for before, after in pairwise(constants))
    assert constants[-1] > 1


@pytest.mark.parametrize("name", RUNGS)
def test_every_claim_is_accepted(name: str) -> None:
    results = shipped_results(name)
    assert {result.claim.id: result.reason for result in results if result.reason} == {}
    assert [result.claim.id for result in results] == list(shipped(name).claims)


@pytest.mark.parametrize("name", RUNGS)
def test_the_claims_cover_every_universe_and_have_the_constant_in_them(name: str) -> None:
    tuning, claims = shipped(name).tuning, shipped_claims(name)
    c = str(tuning.constant)
    following: fmpq | None = fmpq(2)
    for each in tuning.ranges:
        claim = claims[f"bc-thm.{each.first}" if isinstance(each, Envelope) else f"bc-10.{each.first}"]
        variable = next(v for v in claim.variables if v.name == "T")
        assert variable.lower == following and variable.integer and not variable.lower_open
        assert [condition.text() for condition in claim.conditions] == [f"{c}*tau <= 1"]
        assert claim.conclusions[-1].rhs.text() == f"{c}*min(1, tau)"
        others = {v.name: v.text() for v in claim.variables if v.name != "T"}
        assert others == {"k": "integer [1, inf)", "n": "integer [1, inf)", "epsilon": "real (0, inf)"}
        assert following is not None
        following = None if variable.upper is None else variable.upper + 1
    assert following is None, "the last range has no end"
    zero = claims["bc-thm.zero"]
    assert [condition.text() for condition in zero.conditions] == [f"{c}*tau > 1"]
    assert zero.conclusions[0].text() == f"1 <= {c}*min(1, tau)"


@pytest.mark.parametrize("name", RUNGS)
def test_the_text_is_the_same_for_the_same_certificate(name: str) -> None:
    path = SHIPPED / f"rung-{name}.json"
    assert certificate_text(read_certificate(path)).encode() == path.read_bytes()


@pytest.mark.parametrize("name", RUNGS)
def test_check_prints_the_constant_of_the_certificate(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search_command, "check_chain", lambda c: list(shipped_results(c.tuning.rung.name)))
    assert command.run(["check", str(SHIPPED / f"rung-{name}.json")]) == ExitStatus.PROVED
    *rows, summary, statement = capsys.readouterr().out.splitlines()
    assert all(row.startswith("accepted  ") for row in rows)
    assert summary.startswith(f"accepted: all {len(rows)} claims")
    before, after = (
        "for all T, k, n ≥ 1 and ε > 0 there is an ε-DP mechanism with expected error at most ",
        " min(1, τ)",
    )
    assert statement.startswith(before) and statement.endswith(after)
    printed = statement.removeprefix(before).removesuffix(after)
    assert parse_rational(printed) == shipped(name).tuning.constant


def test_the_module_checks_a_certificate_as_a_command(write: Write) -> None:
    data = replaced(data_of("4"), ("ranges", 0, "g"), "1/2")
    done = subprocess.run(
        [sys.executable, "-m", "constants", "check", write(data)],
        capture_output=True,
        text=True,
        cwd=SHIPPED.parents[2],
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[1:] == ['  $.ranges[0].g: "1/2" is not between 0 and 1/2']


# One number altered


def _lower(value: str) -> str:
    return str(parse_rational(value) * fmpq(999, 1000))


def _higher(value: str) -> str:
    return str(parse_rational(value) * fmpq(1001, 1000))


ALTERED: list[tuple[str, tuple[Any, ...], Callable[[Any], Any]]] = [
    ("4", ("constant",), _lower),
    ("8", ("constant",), _lower),
    ("9", ("constant",), _lower),
    ("8", ("constant",), _higher),
    *[(name, ("ranges", -1, key), to) for name in ("4", "9") for key in "gbj" for to in (_lower, _higher)],
    ("8", ("ranges", 0, "g"), _higher),
    ("8", ("ranges", 1, "first"), lambda first: first + 1),
    ("9", ("ranges", 1, "first"), lambda first: first + 1),
    ("9", ("ranges", 1, "first"), lambda first: first - 1),
    ("4", ("rung",), lambda _: "5"),
    ("8", ("rung",), lambda _: "7"),
]


@pytest.mark.usefixtures("without_lemmas")
@pytest.mark.parametrize(("name", "path", "to"), ALTERED)
def test_a_number_of_the_tuning_that_is_altered_is_noticed(
    name: str, path: tuple[Any, ...], to: Callable[[Any], Any], write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of(name)
    assert command.run(["check", write(replaced(data, path, to(at(data, path))))]) == ExitStatus.REFUTED
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "REJECTED" in captured.out
    assert captured.out.splitlines()[-1].startswith("rejected: ")
    assert "expected error" not in captured.out


@pytest.mark.parametrize("name", RUNGS)
def test_any_number_in_a_proof_that_is_altered_is_noticed(name: str) -> None:
    """Every claim of the certificate, at some eight places each."""
    for key, certificate in shipped(name).claims.items():
        numbers = [
            path
            for path in places(certificate)
            if isinstance(value := at(certificate, path), int) or NUMBER.fullmatch(str(value))
        ]
        assert numbers, key
        for path in numbers[:: max(1, len(numbers) // 8)]:
            value = at(certificate, path)
            other = value + 1 if isinstance(value, int) else str(parse_rational(value) + 1)
            with pytest.raises(Rejected, match="altered"):
                check(shipped_claims(name)[key], replaced(certificate, path, other), shipped_claims(name))


@pytest.mark.parametrize("name", ["3", "8"])
def test_an_altered_coefficient_is_noticed_even_under_a_new_digest(name: str) -> None:
    for key in data_of(name)["claims"]:
        certificate = shipped(name).claims[key]
        numbers = [path for path in places(certificate) if path[-1] in ("coefficient", "scale")]
        for path in numbers[:: max(1, len(numbers) // 4)]:
            forged = replaced(certificate, path, str(parse_rational(at(certificate, path)) + 1))
            with pytest.raises(Rejected):
                check(shipped_claims(name)[key], sealed(forged), shipped_claims(name))


JUNK: list[Any] = [
    None, True, -1, 0, 2, 10**30, "", "0", "-1", "1/0", "1e9999", "x", "l", "exp(l", "l > 0", "0 = 1", "1 > 2",
    "\ud800\n", [], [None], {}, {"rule": "known"}, {"rule": "ranges", "bits": 64}, {"rule": "evaluate", "bits": 4096},
]  # fmt: skip


@settings(max_examples=60)
@given(st.data())
def test_whatever_stands_in_a_proof_the_checker_answers(data: st.DataObject) -> None:
    """A claim that it still accepts is the same true claim; it never ends in another way than accepted or rejected."""
    key = data.draw(st.sampled_from(["bc-E.2", "bc-thm.zero"]))
    certificate = shipped("8").claims[key]
    keys = list(places(certificate["proof"]))
    path = ("proof", *data.draw(st.sampled_from(keys)))
    path = path[: data.draw(st.integers(1, len(path)))]
    forged = sealed(replaced(certificate, path, data.draw(st.sampled_from(JUNK))))
    try:
        assert check(shipped_claims("8")[key], forged, shipped_claims("8")) is Verdict.PROVED
    except Rejected as error:
        assert str(error)


# A claim missing, or another one in its place


@pytest.mark.usefixtures("without_lemmas")
@pytest.mark.parametrize("name", ["1", "9"])
def test_a_missing_claim_is_noticed(name: str, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    for key in data_of(name)["claims"]:
        data = data_of(name)
        del data["claims"][key]
        assert command.run(["check", write(data)]) == ExitStatus.REFUTED
        rows = {row.split()[1]: row for row in capsys.readouterr().out.splitlines() if row.startswith("REJECTED")}
        assert "the certificate has no proof of it" in rows.pop(key)
        if key.startswith("bc-E."):  # the theorem of that range cites it
            assert "is not among the claims proved before" in rows.pop(f"bc-thm.{key.split('.')[1]}")
        assert rows == {}


def test_a_missing_lemma_is_noticed(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of("1", lemmas=True)
    lemmas = [key for key in data["claims"] if not key.startswith(TUNED)]
    assert len(lemmas) > 8
    for key in lemmas:
        del data["claims"][key]
    assert command.run(["check", write(data)]) == ExitStatus.REFUTED
    rejected = [row for row in capsys.readouterr().out.splitlines() if row.startswith("REJECTED")]
    assert [row.split()[1] for row in rejected] == lemmas


@pytest.mark.usefixtures("without_lemmas")
@pytest.mark.parametrize(("name", "other"), [("4", "5"), ("1", "2"), ("8", "7")])
def test_a_claim_of_another_rung_is_noticed(
    name: str, other: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    data, keys = data_of(name), ("bc-E.2", "bc-thm.2", "bc-thm.zero")
    for key in keys:
        data["claims"][key] = data_of(other)["claims"][key]
    assert command.run(["check", write(data)]) == ExitStatus.REFUTED
    rows = {row.split()[1]: row for row in capsys.readouterr().out.splitlines() if "for another claim" in row}
    assert set(rows) == set(keys)


@pytest.mark.usefixtures("without_lemmas")
def test_a_claim_that_nothing_rests_on_is_noticed(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of("4")
    data["claims"]["bc-\x1b[2JE.9\n"] = data["claims"]["bc-E.2"]
    assert command.run(["check", write(data)]) == ExitStatus.REFUTED
    out = capsys.readouterr().out
    assert "REJECTED  bc-\\x1b[2JE.9\\n  C does not rest on such a claim" in out.splitlines()
    assert out.splitlines()[-1] == "rejected: 1 of 4 claims, so nothing is shown about C"


@pytest.mark.usefixtures("without_lemmas")
@pytest.mark.parametrize(
    "forged",
    [
        5, None, "proved", [], [1], {}, {"format": "certify-claim/1"}, {"format": "certify-claim/1", "digest": []},
        {"format": "certify-claim/1", "verdict": "proved", "proof": {}},
    ],
)  # fmt: skip
def test_what_is_no_certificate_of_a_claim_is_rejected(
    forged: Any, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of("4")
    data["claims"]["bc-E.2"] = forged
    assert command.run(["check", write(data)]) == ExitStatus.REFUTED
    captured = capsys.readouterr()
    assert captured.err == "" and captured.out.count("REJECTED") == 2


@pytest.mark.usefixtures("without_lemmas")
def test_reasons_take_one_line_each_that_is_safe_to_print(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of("4")
    certificate = data["claims"]["bc-E.2"]
    for node in ({"rule": "\x1b[2J\n" * 2000}, {"rule": "cite", "claim": "\x1b\n" * 2000}, {"rule": "\ud800"}):
        data["claims"]["bc-E.2"] = sealed(replaced(certificate, ("proof", "conclusions", 0), node))
        path = write({**data, "claims": json.loads(json.dumps(data["claims"]).replace("\\ud800", "?"))})
        assert command.run(["check", path]) == ExitStatus.REFUTED
        out = capsys.readouterr().out
        assert len(out.splitlines()) == 4
        assert all(row.isprintable() and len(row) < 400 for row in out.splitlines())


@pytest.mark.usefixtures("without_lemmas")
def test_a_refutation_is_no_proof() -> None:
    certificate = shipped("4")
    claim = shipped_claims("4")["bc-E.2"]
    point = {"format": "certify-claim/1", "statement": claim.statement(), "verdict": "refuted"}
    forged = sealed({**point, "point": {"variables": {"l": "1"}, "conclusion": 0}})
    claims = {**{key: value for key, value in certificate.claims.items() if key.startswith(TUNED)}, "bc-E.2": forged}
    reasons = {r.claim.id: r.reason for r in chain_module.check_chain(RungCertificate(certificate.tuning, claims))}
    assert reasons["bc-E.2"] and reasons["bc-thm.2"] and not reasons["bc-thm.zero"]
