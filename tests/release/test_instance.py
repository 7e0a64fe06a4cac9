"""certify.release.instance: what an instance file means, exactly; and the examples show what they say."""

import json
from pathlib import Path
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from certify.arithmetic.ceiling import certified_ceiling
from certify.arithmetic.decide import decide_le
from certify.arithmetic.expression import parse_expression
from certify.arithmetic.verdict import Verdict
from certify.instance_file import InstanceError, parse_instance_bytes, read_instance_file
from certify.quantity import Quantity
from certify.release.instance import (
    AlphaMechanism,
    Amplification,
    ExplicitMechanism,
    ReleaseInstance,
    TheoremMechanism,
    parse_release_instance,
)

STATEMENTS = ("eq-3.3", "lemma-5.1", "thm-1.1")
EXAMPLES = Path(__file__).parents[2] / "examples"

IRIS: dict[str, Any] = {
    "schema": 1,
    "theory": "release",
    "universe": ["setosa", "versicolor", "virginica"],
    "queries": {"is-setosa": [1, 0, 0], "not-virginica": [1, "1/3", -1]},
    "database": {"virginica": 50, "setosa": 49},
    "epsilon": "1/2",
    "mechanism": {"rounds": 5, "eta": "1/64", "gamma": "1/4"},
}


def read(document: dict[str, Any]) -> ReleaseInstance:
    return parse_release_instance(parse_instance_bytes(json.dumps(document).encode()), STATEMENTS)


def read_example(name: str) -> ReleaseInstance:
    return parse_release_instance(read_instance_file(EXAMPLES / name), STATEMENTS)


def test_an_instance_is_read_exactly() -> None:
    instance = read(IRIS)
    assert instance.universe == ("setosa", "versicolor", "virginica")
    assert instance.query_names == ("is-setosa", "not-virginica")
    assert instance.query_values == (
        (fmpq(1), fmpq(0), fmpq(0)),
        (fmpq(1), fmpq(1, 3), fmpq(-1)),
    )
    assert instance.n == 99
    assert instance.database == (49, 0, 50)
    assert instance.epsilon.exact() == fmpq(1, 2)
    assert isinstance(instance.mechanism, ExplicitMechanism)
    assert instance.mechanism.rounds == 5
    assert instance.mechanism.eta.exact() == fmpq(1, 64)
    assert instance.mechanism.gamma.exact() == fmpq(1, 4)
    assert (instance.code_lengths, instance.statements, instance.amplify) == ((1, 2), None, None)
    assert instance.description == ""


def test_decimals_are_not_floats() -> None:
    text = json.dumps(IRIS).replace('"1/2"', "0.1").replace('"1/3"', "0.30000000000000000000001")
    instance = parse_release_instance(parse_instance_bytes(text.encode()), STATEMENTS)
    assert instance.epsilon.exact() == fmpq(1, 10)
    assert instance.query_values[1][1] == fmpq(30000000000000000000001, 10**23)


@given(st.fractions(-1, 1, max_denominator=10**30))
def test_every_rational_in_range_is_kept(value: object) -> None:
    document = IRIS | {"queries": {"q": [str(value), 0, 1]}}
    numerator, denominator = value.as_integer_ratio()  # type: ignore[attr-defined]
    assert read(document).query_values == ((fmpq(numerator, denominator), fmpq(0), fmpq(1)),)


def test_rows_and_histograms_say_the_same() -> None:
    rows = ["virginica"] * 50 + ["setosa"] * 49
    assert read(IRIS | {"database": rows}).database == read(IRIS).database
    assert read(IRIS | {"database": rows, "n": 99}) == read(IRIS | {"database": rows})


@given(st.lists(st.sampled_from(IRIS["universe"]), min_size=1), st.randoms())
@example(["setosa"], None)
def test_the_order_of_rows_does_not_matter(rows: list[str], random: Any) -> None:
    shuffled = list(rows)
    if random is not None:
        random.shuffle(shuffled)
    instance = read(IRIS | {"database": shuffled})
    assert instance == read(IRIS | {"database": rows})
    assert instance.n == len(rows)


def test_all_databases() -> None:
    instance = read(IRIS | {"database": "all", "n": 4})
    assert (instance.n, instance.database) == (4, None)


def test_an_element_may_be_called_all() -> None:
    document = IRIS | {"universe": ["all"], "queries": {"q": [1]}, "database": ["all", "all"]}
    assert read(document).database == (2,)


def test_the_forms_of_the_mechanism() -> None:
    assert read(IRIS | {"mechanism": "theorem"}).mechanism == TheoremMechanism()
    alpha = read(IRIS | {"mechanism": {"alpha": "epsilon/T"}}).mechanism
    assert isinstance(alpha, AlphaMechanism)
    assert alpha.alpha.exact() == fmpq(1, 6)
    assert alpha.alpha.text == "epsilon/T"


def test_names_in_expressions() -> None:
    document = IRIS | {
        "epsilon": "log(T)/k",
        "mechanism": {"alpha": "min(1, epsilon)"},
        "check": {"amplify": {"copies": 3, "error": "alpha + epsilon/n"}},
    }
    instance = read(document)
    assert isinstance(instance.amplify, Amplification)
    assert instance.amplify.copies == 3
    error = instance.amplify.error
    assert error.exact() is None
    for precision in (53, 300):
        with ctx.workprec(precision):
            expected = arb(3).log() / 2 * (1 + arb(1) / 99)
            value = error.value()
            assert isinstance(value, arb)
            assert value.overlaps(expected)
            assert value.rel_accuracy_bits() > precision - 10


def test_what_to_check() -> None:
    check = {"code_lengths": [3, 1], "statements": ["thm-1.1", "eq-3.3"]}
    instance = read(IRIS | {"check": check})
    assert instance.code_lengths == (3, 1)
    assert instance.statements == ("thm-1.1", "eq-3.3")
    assert read(IRIS | {"check": {}}) == read(IRIS)


@pytest.mark.parametrize("gamma", ["1", "1.0", "10^0", "exp(0)", "sqrt(4)/2", "ceil(1/2)", "k/2", "max(1, log(2))"])
def test_a_limit_is_reached_exactly(gamma: str) -> None:
    mechanism = read(IRIS | {"mechanism": {"rounds": 1, "eta": 1, "gamma": gamma}}).mechanism
    assert isinstance(mechanism, ExplicitMechanism)
    assert mechanism.gamma.exact() == 1


@pytest.mark.parametrize(
    ("gamma", "accepted"),
    [
        ("1 - 10^-1000", True),
        ("1 + 10^-1000", False),
        ("log(3) - 1/11", False),
        ("log(3) - 1/10", True),
        ("log(exp(1) - 10^-1000)", True),
        ("log(exp(1) + 10^-1000)", False),
    ],
)
def test_a_limit_is_certified_not_compared_in_floats(gamma: str, accepted: bool) -> None:
    document = IRIS | {"mechanism": {"rounds": 1, "eta": 1, "gamma": gamma}}
    if accepted:
        assert isinstance(read(document).mechanism, ExplicitMechanism)
    else:
        with pytest.raises(InstanceError, match=r"\$\.mechanism\.gamma: .* is greater than 1"):
            read(document)


def test_names_are_free() -> None:
    universe = ["+a", "-a", "$", '"', "ü", "\u0645\u06cc\u200c\u062e"]
    queries = {"+q": [1] * 6, "-q": [0] * 6, "": [0] * 6}
    document = IRIS | {"universe": universe, "queries": queries, "database": universe}
    with pytest.raises(InstanceError) as caught:
        read(document)
    assert [problem.path for problem in caught.value.problems] == ['$.queries[""]']
    del queries[""]
    assert read(document).universe == tuple(universe)
    assert read(document).query_names == ("+q", "-q")


def test_a_quantity_without_a_decidable_value_is_not_exact() -> None:
    quantity = Quantity(parse_expression("1/(x - x)"), {"x": Quantity(parse_expression("exp(1)"), {})})
    assert quantity.exact() is None


def tau(instance: ReleaseInstance) -> arb:
    """τ of the theorem, at the current precision."""
    size, queries, epsilon = len(instance.universe), len(instance.query_names), instance.epsilon.exact()
    assert epsilon is not None
    return (arb(2 * size).log() * arb(2 * queries).log() / arb(epsilon * instance.n)).sqrt()


def test_growth_example_satisfies_the_growth_condition() -> None:
    instance = read_example("growth.json")
    mechanism = instance.mechanism
    assert isinstance(mechanism, ExplicitMechanism)
    eta, epsilon = mechanism.eta.exact(), instance.epsilon.exact()
    assert eta is not None
    assert epsilon is not None
    kappa = 2 * mechanism.rounds * eta**2 / fmpq(instance.n) ** 2
    size = len(instance.universe)
    decision = decide_le(
        lambda: kappa,
        lambda: arb(epsilon) ** 2 / (2**20 * arb(size**2 + 1).log()),
        precision=64,
        max_precision=256,
    )
    assert decision.verdict is Verdict.PROVED


def test_theorem_example_takes_the_envelope_branch_at_the_least_integer_epsilon() -> None:
    instance = read_example("theorem.json")
    assert isinstance(instance.mechanism, TheoremMechanism)
    with ctx.workprec(128):
        assert 2048 * tau(instance) <= 1
        alpha = 2048 * tau(instance)
        epsilon = instance.epsilon.exact()
        assert epsilon is not None
        assert alpha**2 * arb(epsilon) / arb(epsilon - 1) > 1
    rounds = certified_ceiling(lambda: 16 * arb(4).log() / (2048 * tau(instance)) ** 2)
    assert rounds == 23


def test_zero_branch_example_does_not() -> None:
    instance = read_example("zero-branch.json")
    assert isinstance(instance.mechanism, TheoremMechanism)
    assert 2048 * tau(instance) > 1


def test_berkeley_example_is_the_largest_remainder_rounding_of_the_admissions() -> None:
    instance = read_example("berkeley.json")
    people = [512, 313, 89, 19]
    shares = [fmpq(count * instance.n, sum(people)) for count in people]
    floors = [int(share.floor()) for share in shares]
    by_remainder = sorted(range(4), key=lambda i: shares[i] - floors[i], reverse=True)
    for i in by_remainder[: instance.n - sum(floors)]:
        floors[i] += 1
    assert instance.database == tuple(floors)


def test_the_other_examples_are_the_data_they_name() -> None:
    assert read_example("iris.json").database == (50, 50, 50)
    titanic = read_example("titanic.json")
    assert (titanic.database, titanic.n) == ((711, 1490), 2201)
    everything = read_example("all-databases.json")
    assert everything.database is None
    assert len(everything.universe) == 3
    assert len(read_example("singleton.json").universe) == 1


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.json")), ids=lambda file: file.stem)
def test_every_example_says_what_it_shows(file: Path) -> None:
    description = read_example(file.name).description
    assert description.endswith(".")
    assert len(description) <= 100
