"""`python -m constants search`, and files that are no certificates given to `check`."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rung_certificates import TUNED, replaced, shipped

from certify.arithmetic.verdict import Verdict
from certify.claims.claim import Claim
from certify.claims.result import ClaimResult
from certify.exit_status import ExitStatus
from constants import command
from constants.search import chain as chain_module
from constants.search import command as search_command
from constants.search.certificate import MAX_CHARACTERS, SHIPPED, read_certificate
from constants.search.estimate import Estimate
from constants.search.rung import Envelope

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lemmas_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs of the lemmas are taken from the package: to find them takes long, and the checker decides anyway."""
    claims = {**shipped("4").claims, **shipped("8").claims}
    lemmas = {key: value for key, value in claims.items() if not key.startswith(TUNED)}
    monkeypatch.setattr(chain_module, "_FOUND", lemmas)


@pytest.mark.usefixtures("lemmas_known")
def test_a_search_prints_its_estimate_what_holds_it_back_and_what_is_certified(capsys: Capture) -> None:
    Path("out").mkdir()
    assert command.run(["search", "--rung", "4", "--time", "5", "--output", "out"]) == ExitStatus.PROVED
    captured = capsys.readouterr()
    assert captured.err == ""
    title, estimated, held, chosen, certified, where, last = captured.out.splitlines()
    assert title == "rung 4: the threshold step BC-1"
    found = re.fullmatch(r"  estimate       C = (\d+\.\d{5})", estimated)
    assert found is not None
    assert re.fullmatch(r"  held back by   T → ∞ \(regret .* %, gap .* %, beyond the gap .* %\)", held)
    assert re.fullmatch(r"  T ≥ 2          g = 0\.\d+, b = \d\.\d+, j = 0\.\d+", chosen)
    shown = re.fullmatch(
        r"  certified      for all T, k, n ≥ 1 and ε > 0 .* at most (\d+(?:\.\d+)?) min\(1, τ\)", certified
    )
    assert shown is not None
    assert 39 < float(found[1]) <= float(shown[1]) < 39.5
    assert where.endswith(" claims, in out/rung-4.json") and last == "certified: 1 of 1 constants"
    assert command.run(["check", "out/rung-4.json"]) == ExitStatus.PROVED
    assert f"at most {shown[1]} min(1, τ)" in capsys.readouterr().out
    assert os.listdir("out") == ["rung-4.json"]


@pytest.mark.usefixtures("lemmas_known")
def test_with_too_little_time_a_larger_constant_is_certified_and_not_a_wrong_one(capsys: Capture) -> None:
    assert command.run(["search", "--rung", "8", "--time", "0.000001"]) == ExitStatus.PROVED
    assert "certified: 1 of 1 constants" in capsys.readouterr().out
    hasty = read_certificate("rung-8.json")
    assert shipped("8").tuning.constant < hasty.tuning.constant < shipped("8").tuning.constant * 2
    assert {result.reason for result in chain_module.check_chain(hasty)} == {""}


def test_what_cannot_be_certified_is_said_and_not_written(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """An estimate for which no proof goes through, as a wrong float would be."""
    shipped = read_certificate(SHIPPED / "rung-4.json").tuning
    low = Estimate(shipped.ranges, 30.0, ("T = 2",))
    monkeypatch.setattr(search_command, "estimate", lambda rung, seconds: low)
    monkeypatch.setattr(chain_module, "_lemmas", lambda tuning: iter(()))
    assert command.run(["search", "--rung", "4"]) == ExitStatus.UNDECIDED
    out = capsys.readouterr().out.splitlines()
    assert out[-2].startswith("  not certified  with C = 30.07: ") and "<= 3007/100" in out[-2]
    assert out[-1] == "certified: 0 of 1 constants"
    assert os.listdir(".") == []


def test_a_lemma_that_is_not_proved_is_searched_for_once(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    asked: list[str] = []

    def no_result(claim: Claim, proved: Mapping[str, Claim]) -> ClaimResult:
        asked.append(claim.id)
        return ClaimResult(claim, Verdict.UNDECIDED, "no proof was found", None, 0.0)

    monkeypatch.setattr(chain_module, "_FOUND", {})
    monkeypatch.setattr(chain_module, "decide_claim", no_result)
    assert command.run(["search", "--rung", "4", "--time", "1"]) == ExitStatus.UNDECIDED
    assert asked == ["bc-0.step"]
    assert "  not certified  bc-0.step: undecided no proof was found" in capsys.readouterr().out.splitlines()
    assert not Path("rung-4.json").exists()


def test_a_search_that_finds_nothing_says_so(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    nothing = Estimate((Envelope(2, *read_numbers()),), float("inf"), ())
    monkeypatch.setattr(search_command, "estimate", lambda rung, seconds: nothing)
    assert command.run(["search", "--rung", "4"]) == ExitStatus.UNDECIDED
    out = capsys.readouterr().out
    assert "  not certified  the search found no choice for which (E) holds" in out.splitlines()


def read_numbers() -> tuple[Any, Any, Any]:
    (envelope,) = read_certificate(SHIPPED / "rung-4.json").tuning.ranges
    assert isinstance(envelope, Envelope)
    return envelope.g, envelope.b, envelope.j


@pytest.mark.parametrize(
    "arguments",
    [
        ["--rung", "10"], ["--rung", "0"], ["--rung", ""], ["--rung"], ["--time", "0"], ["--time", "-1"],
        ["--time", "nan"], ["--time", "inf"], ["--time", "x"], ["--ledger", "x"], ["more"], ["--out", "x"],
    ],
)  # fmt: skip
def test_usage_is_refused_by_argparse(arguments: list[str], capsys: Capture) -> None:
    with pytest.raises(SystemExit) as stop:
        command.run(["search", *arguments])
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "error: " in captured.err.splitlines()[-1]
    if "--time" in arguments:
        assert "a number of seconds above 0" in captured.err


def test_an_output_that_is_no_directory_is_refused_before_the_search(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(search_command, "estimate", lambda *_: pytest.fail("it searched"))
    Path("file").write_text("", encoding="utf-8")
    Path("taken/rung-4.json").mkdir(parents=True)
    for directory in ("nowhere", "file", "taken", "a\0b"):
        assert command.run(["search", "--rung", "4", "--output", directory]) == ExitStatus.INVALID
        captured = capsys.readouterr()
        assert captured.out == ""
        header, line = captured.err.splitlines()
        assert header == "command line: 1 problem" and line.startswith("  --output: ")


def test_a_directory_that_cannot_be_written_to_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    Path("locked").mkdir()
    monkeypatch.setattr("certify.report.output_file.os.access", lambda path, mode: False)
    assert command.run(["search", "--rung", "4", "--output", "locked"]) == ExitStatus.INVALID
    assert "cannot be written to" in capsys.readouterr().err


def test_a_write_that_fails_at_the_end_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def full(path: str, text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(search_command, "_certified", lambda *_: read_certificate(SHIPPED / "rung-4.json"))
    monkeypatch.setattr(search_command, "write_atomically", full)
    assert command.run(["search", "--rung", "4", "--time", "0.001"]) == ExitStatus.INVALID
    assert capsys.readouterr().err.splitlines() == [
        "command line: 1 problem",
        "  --output: cannot be written (No space left on device): give another directory",
    ]


# Files that are no certificates

GOOD: dict[str, Any] = {
    "format": "certify-rung/1",
    "rung": "4",
    "constant": "79/2",
    "ranges": [{"first": 2, "g": "23/100", "b": "29/10", "j": "13/2500"}],
    "claims": {},
}
HISTOGRAM = {"first": 2, "mechanism": "histogram"}
ENVELOPE = {"first": 9, "g": "1/4", "b": "2", "j": "1/10"}

TEXTS: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", "$: not a certificate in JSON"),
    "not JSON": ("certificate", "$: not a certificate in JSON"),
    "cut off": (json.dumps(GOOD)[:-3], "$: not a certificate in JSON"),
    "two documents": (json.dumps(GOOD) * 2, "$: not a certificate in JSON"),
    "not UTF-8": (b"\xff\xfe{}", "$: is not UTF-8 text"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "$: not a certificate in JSON"),
    "a float": (json.dumps({**GOOD, "constant": 39.5}), "$: not a certificate in JSON: 39.5 is not an exact number"),
    "a float deep inside": (json.dumps({**GOOD, "claims": {"a": [{"b": 0.1}]}}), "0.1 is not an exact number"),
    "NaN": ('{"constant": NaN}', "NaN is not an exact number"),
    "Infinity": ('{"constant": -Infinity}', "-Infinity is not an exact number"),
    "a huge integer": (f'{{"first": {"9" * 10**5}}}', "is too large an integer"),
    "a key twice": ('{"constant": "2", "constant": "40"}', 'the key "constant" is given twice'),
    "deep nesting": ("[" * 10**5, "$: not a certificate in JSON"),
    "deep nesting that ends": ('{"claims":' * 10**4 + "1" + "}" * 10**4, "$: not a certificate in JSON"),
    "a list": ("[]", "$: a certificate is an object"),
    "a number": ("5", "$: a certificate is an object"),
    "null": ("null", "$: a certificate is an object"),
}


def refused(text: str | bytes, capsys: Capture) -> list[str]:
    """The problems that `check` reports of a file, one line each, and nothing else."""
    Path("c.json").write_bytes(text.encode() if isinstance(text, str) else text)
    assert command.run(["check", "c.json"]) == ExitStatus.INVALID
    captured = capsys.readouterr()
    assert captured.out == ""
    header, *lines = captured.err.splitlines()
    assert header == f"c.json: {len(lines)} problem{'' if len(lines) == 1 else 's'}"
    assert all(line.startswith("  $") and line.isprintable() and len(line) < 300 for line in lines)
    return [line.strip() for line in lines]


@pytest.mark.parametrize("case", TEXTS)
def test_what_is_no_certificate_is_refused_in_one_line(case: str, capsys: Capture) -> None:
    text, problem = TEXTS[case]
    (line,) = refused(text, capsys)
    assert problem in line


Change = tuple[tuple[Any, ...], Any, str]

CHANGES: dict[str, Change] = {
    "another format": (("format",), "certify-rung/2", '$.format: write "certify-rung/1"'),
    "a rung of another name": (("rung",), "10", "$.rung: no rung has this name"),
    "a rung that is a number": (("rung",), 4, "$.rung: no rung has this name"),
    "a constant without quotes": (("constant",), 40, "$.constant: a number is text in quotes"),
    "a constant of 1": (("constant",), "1", '$.constant: "1" is not above 1'),
    "a negative constant": (("constant",), "-40", '$.constant: "-40" is not above 1'),
    "a constant that is none": (("constant",), "NaN", "$.constant: 'NaN' is not a number"),
    "a constant that divides by 0": (("constant",), "1/0", "$.constant: '1/0' has denominator 0"),
    "a constant in other digits": (("constant",), "٤٠", "$.constant: "),
    "a huge constant": (("constant",), "1e9999", '$.constant: "1e9999" has more than 50 digits'),
    "a constant of many digits": (("constant",), "9" * 4000, "$.constant: "),
    "a constant too long to read": (("constant",), "9" * 6000, "$.constant: a number of 6000 characters is too long"),
    "no ranges": (("ranges",), [], "$.ranges: a list of 1 to 20 ranges of T"),
    "ranges that are no list": (("ranges",), {}, "$.ranges: a list of 1 to 20 ranges of T"),
    "too many ranges": (("ranges",), [ENVELOPE] * 21, "$.ranges: a list of 1 to 20 ranges of T"),
    "a range that is no object": (("ranges", 0), 2, "$.ranges[0]: a range is "),
    "a range that starts late": (("ranges", 0, "first"), 3, "$.ranges[0].first: the first range starts at T = 2"),
    "a range from T = 1": (("ranges", 0, "first"), 1, "$.ranges[0].first: an integer from 2"),
    "a range that starts at text": (("ranges", 0, "first"), "2", "$.ranges[0].first: an integer from 2"),
    "a range that starts at true": (("ranges", 0, "first"), True, "$.ranges[0].first: an integer from 2"),
    "a range that starts too far off": (("ranges", 0, "first"), 10**7, "$.ranges[0].first: an integer from 2"),
    "ranges that do not increase": (
        ("ranges",), [GOOD["ranges"][0], ENVELOPE, ENVELOPE], "$.ranges[2].first: an integer from 10",
    ),
    "g of a half": (("ranges", 0, "g"), "1/2", '$.ranges[0].g: "1/2" is not between 0 and 1/2'),
    "g above a half": (("ranges", 0, "g"), "0.75", '$.ranges[0].g: "0.75" is not between 0 and 1/2'),
    "g of 0": (("ranges", 0, "g"), "0", '$.ranges[0].g: "0" is not between 0 and 1/2'),
    "g that is tiny": (("ranges", 0, "g"), "1e-9999", '$.ranges[0].g: "1e-9999" has more than 50 digits'),
    "b of 0": (("ranges", 0, "b"), "0", '$.ranges[0].b: "0" is not above 0'),
    "b that is huge": (("ranges", 0, "b"), "1e9999", '$.ranges[0].b: "1e9999" has more than 50 digits'),
    "a negative j": (("ranges", 0, "j"), "-1/10", '$.ranges[0].j: "-1/10" is not above 0'),
    "j that is null": (("ranges", 0, "j"), None, "$.ranges[0].j: a number is text in quotes"),
    "another mechanism": (("ranges", 0), {"first": 2, "mechanism": "choice"}, "$.ranges[0]: rung 4 has no histogram"),
    "a histogram in a rung without one": (("ranges",), [HISTOGRAM, ENVELOPE], "$.ranges[0]: rung 4 has no histogram"),
    "claims that are a list": (("claims",), [], "$.claims: give the certificates of the claims by id"),
    "claims that are null": (("claims",), None, "$.claims: give the certificates of the claims by id"),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGES)
def test_a_field_that_is_wrong_is_named(case: str, capsys: Capture) -> None:
    path, value, problem = CHANGES[case]
    lines = refused(json.dumps(replaced(GOOD, path, value)), capsys)
    assert any(line.startswith(problem) for line in lines)


@pytest.mark.parametrize("field", GOOD)
def test_a_field_that_is_missing_is_named(field: str, capsys: Capture) -> None:
    lines = refused(json.dumps({key: value for key, value in GOOD.items() if key != field}), capsys)
    assert [line.split(":")[0] for line in lines] == [f"$.{field}"]


@pytest.mark.parametrize("field", ["first", "g", "b", "j"])
def test_a_field_of_a_range_that_is_missing_is_named(field: str, capsys: Capture) -> None:
    entry = {key: value for key, value in GOOD["ranges"][0].items() if key != field}
    (line,) = refused(json.dumps({**GOOD, "ranges": [entry]}), capsys)
    assert line.startswith(f"$.ranges[0].{field}: ")


def test_the_last_range_is_no_histogram(capsys: Capture) -> None:
    (line,) = refused(json.dumps({**GOOD, "rung": "9", "ranges": [HISTOGRAM]}), capsys)
    assert line == "$.ranges: the last range is for all larger universes: it needs g, b and j"
    other = {"first": 2, "mechanism": ["histogram"]}
    (line,) = refused(json.dumps({**GOOD, "rung": "9", "ranges": [other, ENVELOPE]}), capsys)
    assert line.startswith("$.ranges[0].mechanism: ")


def test_everything_that_is_wrong_is_said_at_once_and_safely(capsys: Capture) -> None:
    bad = {
        **GOOD,
        "constant": "x\n",
        "rung": "\x1b[2J",
        "a\nb": 1,
        "c\x1b\u202e" * 50: 2,
        "ranges": [{"first": 2, "G": "1"}],
    }
    lines = refused(json.dumps(bad), capsys)
    paths = [line.split(": ")[0] for line in lines]
    assert paths[0] == "$.a\\nb" and paths[1].startswith("$.c\\x1b\\u202e")
    assert paths[2:] == [
        "$.rung", "$.constant", "$.ranges[0].G", "$.ranges[0].g", "$.ranges[0].b", "$.ranges[0].j",
    ]  # fmt: skip


def test_a_file_that_is_too_long_is_not_read_to_its_end(capsys: Capture) -> None:
    (line,) = refused(" " * (MAX_CHARACTERS + 10), capsys)
    assert line == f"$: longer than {MAX_CHARACTERS:,} characters: not a certificate of a rung"


@pytest.mark.parametrize("path", ["nowhere.json", ".", "nowhere/x.json"])
def test_a_path_that_is_no_file_is_refused(path: str, capsys: Capture) -> None:
    assert command.run(["check", path]) == ExitStatus.INVALID
    header, line = capsys.readouterr().err.splitlines()
    assert header == f"{path}: 1 problem"
    assert line.startswith("  $: cannot be read (") and line.endswith("give the path of a certificate")


def test_a_certificate_and_a_ledger_are_not_given_together(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as stop:
        command.run(["check", "c.json", "--ledger", "x.toml"])
    assert stop.value.code == 2
    assert "give it or --ledger, not both" in capsys.readouterr().err


def test_a_certificate_without_proofs_shows_nothing(capsys: Capture) -> None:
    Path("c.json").write_text(json.dumps(GOOD), encoding="utf-8")
    assert command.run(["check", "c.json"]) == ExitStatus.REFUTED
    out = capsys.readouterr().out.splitlines()
    assert all(row.startswith("REJECTED") and row.endswith("the certificate has no proof of it") for row in out[:-1])
    assert out[-1] == f"rejected: {len(out) - 1} of {len(out) - 1} claims, so nothing is shown about C"
