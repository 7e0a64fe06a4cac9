"""``"mechanism": {"tuned": …}``: how it is read, which branch runs, what is refused, what the report says."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from instances import explicit, instance, problem_of, run
from tunings import TUNINGS, fixed

from certify.arithmetic.enclosure import Enclosure
from certify.arithmetic.scalar import Undetermined
from certify.command import ExitStatus
from certify.command import run as command
from certify.instance_file import InstanceError, parse_instance_bytes
from certify.release.instance import ReleaseInstance, TunedMechanism, parse_release_instance
from certify.release.mechanism import ExactOutput, NoisyHistogram, ResolvedMechanism, ZeroOutput
from certify.release.size import Plan
from certify.release.statements import ALL_STATEMENT_IDS, BETTER_CATALOGUE, STATEMENT_IDS
from certify.release.statements.better_theorem import NOT_TUNED
from certify.release.tuning import tuning_named, tuning_names
from constants.search.rung import RUNGS

COIN = [[1, -1]]
LIMIT = 2_000_000_000
DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "theory": "release",
    "universe": ["heads", "tails"],
    "queries": {"bias": [1, -1]},
    "database": {"heads": 30, "tails": 55},
    "epsilon": 1,
    "mechanism": {"tuned": "8"},
}


def read(mechanism: Any, **changes: Any) -> ReleaseInstance:
    document = DOCUMENT | changes | {"mechanism": mechanism}
    return parse_release_instance(parse_instance_bytes(json.dumps(document).encode()), ALL_STATEMENT_IDS)


def file_with(path: Path, **changes: Any) -> str:
    path.write_text(json.dumps(DOCUMENT | changes), encoding="utf-8")
    return str(path)


def tuned(values: Any, database: Any, epsilon: Any, rung: str = "8", n: int | None = None) -> ReleaseInstance:
    return instance(values, database, epsilon, TunedMechanism(rung), n=n)


# reading


def test_every_rung_can_be_named() -> None:
    assert tuning_names() == tuple(RUNGS)
    for name in RUNGS:
        assert read({"tuned": name}).mechanism == TunedMechanism(name)
        assert tuning_named(name).rung is RUNGS[name]


@pytest.mark.parametrize(
    ("mechanism", "path", "message"),
    [
        ({"tuned": "88"}, "$.mechanism.tuned", '"88" is not a rung of the smaller constant: did you mean "8"?'),
        ({"tuned": "0"}, "$.mechanism.tuned", '"0" is not a rung of the smaller constant: write one of "1", "2", "3"'),
        ({"tuned": "rung 8"}, "$.mechanism.tuned", '"rung 8" is not a rung of the smaller constant: '),
        ({"tuned": "../../etc/passwd"}, "$.mechanism.tuned", "is not a rung of the smaller constant: "),
        ({"tuned": "8\u001b[31m"}, "$.mechanism.tuned", "is not a rung of the smaller constant: "),
        ({"tuned": "x" * 10_000}, "$.mechanism.tuned", "is not a rung of the smaller constant: "),
        ({"tuned": ""}, "$.mechanism.tuned", "is not a rung of the smaller constant: "),
        ({"tuned": 8}, "$.mechanism.tuned", "8 is not a string: put it in double quotes"),
        ({"tuned": True}, "$.mechanism.tuned", "true is not a string"),
        ({"tuned": None}, "$.mechanism.tuned", "null is not a string"),
        ({"tuned": ["8"]}, "$.mechanism.tuned", "is not a string"),
        ({"tuned": {"rung": "8"}}, "$.mechanism.tuned", "is not a string"),
        ({"tuned": "8", "gamma": 1}, "$.mechanism", "gives tuned and gamma: keep tuned alone, or leave it out"),
        ({"tuned": "8", "alpha": 1}, "$.mechanism", "gives tuned and alpha: keep tuned alone, or leave it out"),
        ({"tuned": "8", "C": 9}, "$.mechanism.C", "unknown field: "),
        ({"turned": "8"}, "$.mechanism.turned", "unknown field: "),
        ("tuned", "$.mechanism", '"tuned" is not a mechanism: give {"rounds"'),
    ],
)
def test_what_is_not_a_rung_is_refused(mechanism: Any, path: str, message: str) -> None:
    with pytest.raises(InstanceError) as caught:
        read(mechanism)
    problem = caught.value.problems[0]
    assert (problem.path, message in problem.message) == (path, True), problem
    assert problem.message.isprintable() and len(problem.message) < 400


def test_a_rung_and_another_form_are_reported_with_everything_else_that_is_wrong() -> None:
    with pytest.raises(InstanceError) as caught:
        read({"tuned": "eight", "rounds": 2, "eta": 1}, epsilon=0)
    assert [problem.path for problem in caught.value.problems] == [
        "$.epsilon",
        "$.mechanism",
        "$.mechanism.tuned",
    ]


# branches


@pytest.mark.parametrize(
    ("given", "branch"),
    [
        (tuned([[1]], [1], "1/1000"), ExactOutput),  # C tau > 1
        (tuned([[1], ["1/2"]], None, 10**9, n=3), ExactOutput),
        (tuned(COIN, [84, 0], 1), ZeroOutput),
        (tuned(COIN, [85, 0], 1), ResolvedMechanism),
        (tuned(COIN, [1, 0], 84), ZeroOutput),
        (tuned(COIN, [1, 0], "8401/100"), ResolvedMechanism),
        (tuned([[1, 0, -1]], [108, 0, 0], 1), ZeroOutput),
        (tuned([[1, 0, -1]], [109, 0, 0], 1), ResolvedMechanism),
    ],
)
def test_which_branch_runs(given: ReleaseInstance, branch: type) -> None:
    """C = 9.35: C² L_D L_Q is 84.004 for T = 2, k = 1 and 108.6 for T = 3."""
    with fixed(TUNINGS["8"]):
        problem = problem_of(given)
    assert isinstance(problem.mechanism, branch)
    assert problem.is_tuned and problem.has_transcripts == (branch is ResolvedMechanism)
    assert problem.zero_output == (branch is ZeroOutput)


def test_small_universes_of_rung_nine_have_the_histogram() -> None:
    assert isinstance(problem_of(tuned(COIN, [48, 0], 1, "9")).mechanism, NoisyHistogram)
    many = [[(-1) ** d for d in range(100)]]
    assert isinstance(problem_of(tuned(many, [1] + [0] * 99, 10**4, "9")).mechanism, ResolvedMechanism)


def test_an_epsilon_exactly_at_the_border_cannot_be_decided(tmp_path: Path, capsys: Any) -> None:
    epsilon = "(187/20)^2*log(2*T)*log(2*k)/n"
    with fixed(TUNINGS["8"]):
        with pytest.raises(Undetermined, match=r"the branch of rung 8 \(C tau <= 1\) cannot be decided"):
            problem_of(read({"tuned": "8"}, epsilon=epsilon))
        path = file_with(tmp_path / "tie.json", epsilon=epsilon)
        assert command([path]) is ExitStatus.INVALID
    assert "write exact numbers, or change the parameters slightly" in capsys.readouterr().err


def test_a_number_of_rounds_that_is_exactly_an_integer_cannot_be_decided() -> None:
    with fixed(TUNINGS["8"]), pytest.raises(Undetermined, match="cannot be separated from the integer 20"):
        problem_of(read({"tuned": "8"}, epsilon="20*log(2)/(23/250)/n"))


def test_rounds_that_are_an_integer_in_rational_arithmetic_are_exact() -> None:
    """k = 1 has an irrational L_Q, so only B can be such: b/ε = 17 exactly."""
    with fixed(TUNINGS["8"]):
        mechanism = problem_of(tuned(COIN, [900, 0], "1/10")).mechanism
    assert isinstance(mechanism, ResolvedMechanism) and mechanism.tuned is not None
    assert mechanism.tuned.block_width == 17


# what is refused


@pytest.mark.parametrize(("rung", "epsilon"), [("1", 40_000), ("2", 20_000), ("3", 6_000)])
def test_the_first_rungs_have_too_many_rounds(rung: str, epsilon: int) -> None:
    plan = Plan.of(problem_of(tuned(COIN, [1, 0], epsilon, rung)), LIMIT)
    assert plan.refusal is not None and len(plan.refusal) < 400
    for part in (f"Rung {rung} has ", "wherever its output is not zero", "another rung", "--max-pairs"):
        assert part in plan.refusal, plan.refusal


@pytest.mark.parametrize("rows", [200, 10**5, 10**7, 10**12])
def test_far_beyond_the_border_there_are_too_many_rounds(rows: int) -> None:
    """J grows with εn: known from J alone, before anything of that size is formed."""
    with fixed(TUNINGS["8"]):
        plan = Plan.of(problem_of(tuned(COIN, [rows, 0], 1)), LIMIT)
    assert plan.refusal is not None and "and at least 12 wherever" in plan.refusal and len(plan.refusal) < 400


# the report


def test_the_quantities_of_the_envelope() -> None:
    with fixed(TUNINGS["8"]):
        found = run(read({"tuned": "8"}), "bc-thm").quantities
    assert (found["branch"], found["rung"], found["J"], found["block_radii"]) == ("envelope", "8", 12, 2)
    exact = {"C": fmpq(187, 20), "g": fmpq(13, 50), "b": fmpq(17, 10), "j": fmpq(23, 250)}
    for name, value in exact.items():
        assert found[name] == Enclosure.of(value), name
    assert list(found)[:4] == ["branch", "rung", "C", "C_tau"]
    one = Enclosure.of(fmpq(1))
    for below, above in pairwise([*(found[name] for name in ("expected_error", "error_bound", "C_tau")), one]):
        assert isinstance(below, Enclosure) and isinstance(above, Enclosure)
        assert below.upper is not None and above.lower is not None and below.upper < above.lower


@pytest.mark.parametrize(
    ("given", "branch", "error"),
    [
        (tuned([["1/2"]], [7], 1), "exact output", 0),
        (tuned(COIN, [3, 1], 1), "zero output", fmpq(1, 2)),
    ],
)
def test_the_quantities_of_the_other_branches(given: ReleaseInstance, branch: str, error: Any) -> None:
    with fixed(TUNINGS["8"]):
        found = run(given, "bc-thm").quantities
    assert (found["branch"], found["rung"]) == (branch, "8")
    assert found["expected_error"] == Enclosure.of(fmpq(error))
    assert {"C", "C_tau", "tau"} <= set(found) and not {"J", "g", "transcripts", "error_bound"} & set(found)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "rung 8, C = 9.35"),
        ({"epsilon": "1/2"}, "zero output, the trivial branch of Theorem 1.1; rung 8, C = 9.35"),
        ({"mechanism": {"tuned": "9"}}, "noisy histogram; rung 9, C = "),
        (
            {"universe": ["only"], "queries": {"q": [1]}, "database": {"only": 2}},
            "the exact answer, since T = 1; rung 8, C = 9.35",
        ),
    ],
)
def test_the_heading_says_what_runs(changes: dict[str, Any], shown: str, tmp_path: Path, capsys: Any) -> None:
    tuning = TUNINGS["8"] if "mechanism" not in changes else tuning_named("9")
    with fixed(tuning):
        path = file_with(tmp_path / "instance.json", **changes)
        assert command([path, "--statements", "bc-thm"]) is ExitStatus.PROVED
    assert shown in " ".join(capsys.readouterr().out.split())


# which statements are listed


def test_others_list_no_step_of_the_smaller_constant() -> None:
    better = {statement.id for statement in BETTER_CATALOGUE}
    assert not better & set(STATEMENT_IDS) and better | set(STATEMENT_IDS) == set(ALL_STATEMENT_IDS)
    given = instance(COIN, [2, 1], 1, explicit(2, 1, "1/2"))
    assert [found.statement.id for found in run(given).outcomes] == list(STATEMENT_IDS)
    (asked,) = run(given, "bc-7").outcomes
    assert (asked.verdict, asked.reason) == (None, NOT_TUNED)
    with fixed(TUNINGS["8"]):
        assert [found.statement.id for found in run(read({"tuned": "8"})).outcomes] == list(ALL_STATEMENT_IDS)


def test_an_instance_and_the_command_may_ask_for_them(tmp_path: Path, capsys: Any) -> None:
    check = {"statements": ["bc-7", "eq-7.damping"]}
    path = file_with(tmp_path / "asking.json", check=check)
    with fixed(TUNINGS["8"]):
        assert [found.statement.id for found in run(read({"tuned": "8"}, check=check)).outcomes] == [
            "eq-7.damping",
            "bc-7",
        ]
        assert command([path, "--statements", "bc-8"]) is ExitStatus.PROVED
    assert "1 statement proved" in capsys.readouterr().out
    assert command([path, "--statements", "bc-88"]) is ExitStatus.INVALID
    assert 'did you mean "bc-8"?' in capsys.readouterr().err


def test_the_papers_own_theorem_is_about_its_own_mechanism() -> None:
    with fixed(TUNINGS["8"]):
        for given in (read({"tuned": "8"}), tuned(COIN, [1, 1], 1), tuned([[1]], [1], 1)):
            (found,) = run(given, "thm-1.1").outcomes
            assert found.verdict is None and found.reason is not None and '"theorem"' in found.reason
        (choice,) = run(read({"tuned": "8"}), "eq-8.choice").outcomes
    assert choice.reason == 'the mechanism is tuned; (8.3) speaks of {"alpha": …} or "theorem"'


def test_the_verdict_of_a_refuted_copy_reaches_the_exit_status(tmp_path: Path, capsys: Any) -> None:
    from constants.ledger import SHIPPED

    text = SHIPPED.read_text(encoding="utf-8")
    before = '[constant.better-theorem]\npaper_id = "better"\nvalue = "1"'
    assert before in text
    ledger = tmp_path / "ledger.toml"
    ledger.write_text(text.replace(before, before.replace('"1"', '"1/20"')), encoding="utf-8")
    path = file_with(tmp_path / "instance.json")
    with fixed(TUNINGS["8"]):
        assert command([path, "--ledger", str(ledger), "--statements", "bc-thm"]) is ExitStatus.REFUTED
    output = capsys.readouterr().out
    assert "REFUTED bc-thm" in output and "heads: 30" in output.replace("=", ": ")
