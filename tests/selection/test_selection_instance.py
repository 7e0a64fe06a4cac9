"""Reading selection instances: every problem at once with its path, no float, no traceback; the schema agrees."""

import json
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from selection_checks import EXAMPLES, example, parsed

from certify.instance_file import InstanceError, parse_instance_bytes
from certify.schema import instance_schema
from certify.selection import instance_mechanisms, instance_stream
from certify.selection.instance import KINDS, OPTIONAL_FIELDS, REQUIRED_FIELDS, parse_selection_instance
from certify.selection.instance_model import Against, Box, GeometricNoise, LaplaceNoise, ReplaceOne, StreamSpec
from certify.selection.instance_schema import selection_schema
from certify.selection.statements import STATEMENT_IDS

VALIDATOR = Draft202012Validator(instance_schema())
STREAM = {"sums": [0, 1], "thresholds": 1}


def problems(data: dict[str, Any]) -> dict[str, str]:
    """What is wrong with the data, by path."""
    with pytest.raises(InstanceError) as caught:
        parsed(data)
    return {problem.path: problem.message for problem in caught.value.problems}


def stream(**fields: Any) -> StreamSpec:
    kind = parsed({"epsilon": "1/2", "stream": STREAM | fields}).kind
    assert isinstance(kind, StreamSpec)
    return kind


def test_the_defaults_are_the_papers() -> None:
    read = stream()
    assert read.noise == LaplaceNoise(fmpq(4), fmpq(8))
    assert (read.strict, read.max_yes, read.resample, read.release_value) == (True, 1, "never", False)
    assert read.thresholds == (fmpq(1), fmpq(1)) and read.neighbours == Box() and read.n is None


def test_numbers_are_read_exactly() -> None:
    read = stream(sums=[0.1, "1/3"], thresholds=[1e-3, "2"], threshold_scale="3/(4*epsilon)")
    assert read.scores.sums == (fmpq(1, 10), fmpq(1, 3)) and read.thresholds == (fmpq(1, 1000), fmpq(2))
    assert isinstance(read.noise, LaplaceNoise) and read.noise.threshold == fmpq(3, 2)


def test_ratios_scales_and_no_noise() -> None:
    ratios = stream(noise="geometric", threshold_ratio="1/2", query_ratio=0).noise
    assert isinstance(ratios, GeometricNoise) and ratios.threshold.value == fmpq(1, 2) and ratios.query.absent
    rates = stream(noise="geometric").noise
    assert isinstance(rates, GeometricNoise) and rates.threshold.rate == fmpq(1, 4)
    assert stream(threshold_scale=0, query_scale="0").noise == LaplaceNoise(fmpq(0), fmpq(0))


@pytest.mark.parametrize(
    ("output", "max_yes", "answers"),
    [(1, 1, "y"), (2, 1, "ny"), ("none", 1, "nn"), ("ny", 1, "ny"), ("yy", 2, "yy"), ("yn", None, "yn")],
)
def test_outcomes_are_answers(output: object, max_yes: int | None, answers: str) -> None:
    assert stream(output=output, max_yes=max_yes).output == answers


@pytest.mark.parametrize(
    ("output", "max_yes"), [(3, 1), (0, 1), ("yy", 1), ("n", 1), ("nnn", 1), ("maybe", 1), ("y", 2), (1, 2), ("", None)]
)
def test_what_is_no_outcome_is_refused(output: object, max_yes: int | None) -> None:
    assert any(
        "$.stream.output" in path
        for path in problems({"epsilon": 1, "stream": STREAM | {"output": output, "max_yes": max_yes}})
    )


def test_records_are_clipped_and_summed() -> None:
    kind = parsed(
        {"epsilon": 1, "stream": {"records": [[2, "1/2"], [-1, 1]], "thresholds": 0, "neighbours": "replace-one"}}
    ).kind
    assert isinstance(kind, StreamSpec)
    assert kind.scores.sums == (fmpq(1), fmpq(3, 2)) and kind.scores.clipped == 2
    assert kind.neighbours == ReplaceOne() and kind.n == 2
    assert stream(neighbours={"against": [0, "1/2"]}).neighbours == Against((fmpq(0), fmpq(1, 2)))


HOSTILE = {
    "nothing": {},
    "two kinds": {"epsilon": 1, "stream": STREAM, "rounded-laplace": {}},
    "no epsilon": {"stream": STREAM},
    "two epsilons": {"epsilon": 1, "exp_epsilon": 3, "stream": STREAM},
    "epsilon 0": {"epsilon": 0, "stream": STREAM},
    "negative epsilon": {"epsilon": -1, "stream": STREAM},
    "tiny epsilon": {"epsilon": "1e-31", "stream": STREAM},
    "huge epsilon": {"epsilon": "1e7", "stream": STREAM},
    "e^epsilon 1": {"exp_epsilon": 1, "stream": STREAM},
    "e^epsilon without scales": {"exp_epsilon": 3, "stream": STREAM},
    "epsilon true": {"epsilon": True, "stream": STREAM},
    "epsilon text": {"epsilon": "one", "stream": STREAM},
    "epsilon null": {"epsilon": None, "stream": STREAM},
    "beta 1": {"epsilon": 1, "beta": 1, "stream": STREAM},
    "unknown field": {"epsilon": 1, "streem": STREAM},
    "unknown statement": {"epsilon": 1, "stream": STREAM, "check": {"statements": ["thm-5.9"]}},
    "statement twice": {"epsilon": 1, "stream": STREAM, "check": {"statements": ["thm-5.1", "thm-5.1"]}},
    "no sums": {"epsilon": 1, "stream": {"thresholds": 1}},
    "empty sums": {"epsilon": 1, "stream": {"sums": [], "thresholds": 1}},
    "sums and records": {"epsilon": 1, "stream": STREAM | {"records": [[1, 1]]}},
    "ragged records": {"epsilon": 1, "stream": {"records": [[1], [1, 0]], "thresholds": 1}},
    "no thresholds": {"epsilon": 1, "stream": {"sums": [1]}},
    "too few thresholds": {"epsilon": 1, "stream": STREAM | {"thresholds": [1]}},
    "sum true": {"epsilon": 1, "stream": STREAM | {"sums": [True, 1]}},
    "sum an expression": {"epsilon": 1, "stream": STREAM | {"sums": ["log(2)", 1]}},
    "negative scale": {"epsilon": 1, "stream": STREAM | {"query_scale": -1}},
    "irrational scale": {"epsilon": 1, "stream": STREAM | {"query_scale": "log(3)"}},
    "scale of an unknown name": {"epsilon": 1, "stream": STREAM | {"query_scale": "2/delta"}},
    "ratio 1": {"epsilon": 1, "stream": STREAM | {"noise": "geometric", "threshold_ratio": 1, "query_ratio": 0}},
    "one ratio": {"epsilon": 1, "stream": STREAM | {"noise": "geometric", "query_ratio": 0}},
    "ratio of laplace noise": {"epsilon": 1, "stream": STREAM | {"query_ratio": 0, "threshold_ratio": 0}},
    "ratio and scale": {"epsilon": 1, "stream": STREAM | {"noise": "geometric", "query_ratio": 0, "query_scale": 1}},
    "strict text": {"epsilon": 1, "stream": STREAM | {"strict": "yes"}},
    "max_yes 0": {"epsilon": 1, "stream": STREAM | {"max_yes": 0}},
    "resample often": {"epsilon": 1, "stream": STREAM | {"resample": "often"}},
    "replace-one of sums": {"epsilon": 1, "stream": STREAM | {"neighbours": "replace-one"}},
    "against too few": {"epsilon": 1, "stream": STREAM | {"neighbours": {"against": [1]}}},
    "against no neighbour": {"epsilon": 1, "stream": STREAM | {"neighbours": {"against": [2, 3]}}},
    "against outside [0,n]": {"epsilon": 1, "stream": STREAM | {"n": 1, "neighbours": {"against": [0, 2]}}},
    "against and more": {"epsilon": 1, "stream": STREAM | {"neighbours": {"against": [1, 1], "to": 1}}},
    "value without release": {"epsilon": 1, "stream": STREAM | {"value": 1}},
    "release without value": {"epsilon": 1, "stream": STREAM | {"release_value": True, "output": 1}},
    "release without output": {"epsilon": 1, "stream": STREAM | {"release_value": True, "value": 1}},
    "release of several": {
        "epsilon": 1,
        "stream": STREAM | {"release_value": True, "value": 1, "max_yes": 2, "output": "yy"},
    },
    "n below a sum": {"epsilon": 1, "stream": STREAM | {"n": 0}},
    "selection without beta": {"epsilon": 1, "selection": {"sums": [1, 2], "n": 4, "algorithm": "linear-scan"}},
    "selection without n": {"epsilon": 1, "beta": "1/2", "selection": {"sums": [1, 2], "algorithm": "linear-scan"}},
    "selection of exp_epsilon": {
        "exp_epsilon": 3,
        "beta": "1/2",
        "selection": {"sums": [1, 2], "n": 4, "algorithm": "linear-scan"},
    },
    "unknown algorithm": {"epsilon": 1, "beta": "1/2", "selection": {"sums": [1, 2], "n": 4, "algorithm": "bogo"}},
    "scores outside [0,n]": {
        "epsilon": 1,
        "beta": "1/2",
        "selection": {"sums": [1, 5], "n": 4, "algorithm": "linear-scan"},
    },
    "one candidate": {"epsilon": 1, "beta": "1/2", "selection": {"sums": [1], "n": 4, "algorithm": "binary-search"}},
    "rounds of a scan": {
        "epsilon": 1,
        "beta": "1/2",
        "selection": {"sums": [1, 2], "n": 4, "algorithm": "linear-scan", "rounds": 3},
    },
    "two sums estimated": {
        "epsilon": 1,
        "beta": "1/2",
        "selection": {"sums": [1, 2], "n": 4, "algorithm": "sum-estimate"},
    },
    "sensitivity 0": {"epsilon": 1, "exponential": {"scores": [1], "sensitivity": 0}},
    "more draws than scores": {
        "epsilon": 1,
        "exponential": {"scores": [1], "sensitivity": 1, "draws": 2, "repeat": False},
    },
    "comparison without delta": {"epsilon": 1, "compare-to-thresholds": {"queries": [{"sum": 1, "low": 0, "high": 9}]}},
    "thresholds exchanged": {
        "epsilon": 1,
        "delta": "1/2",
        "compare-to-thresholds": {"queries": [{"sum": 1, "low": 9, "high": 0}]},
    },
    "outcome of another length": {
        "epsilon": 1,
        "delta": "1/2",
        "compare-to-thresholds": {"queries": [{"sum": 1, "low": 0, "high": 9}], "output": "HHC"},
    },
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_wrong_is_said_with_its_path(name: str) -> None:
    found = problems(HOSTILE[name])
    assert found and all(path.startswith("$") and len(message) > 10 for path, message in found.items())


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e99999", "1" * 6000])
def test_numbers_that_are_none_are_refused(text: str) -> None:
    content = b'{"schema": 1, "theory": "selection", "epsilon": 1, "stream": {"sums": [%s], "thresholds": 0}}'
    with pytest.raises(InstanceError):
        parse_selection_instance(parse_instance_bytes(content % text.encode()), STATEMENT_IDS)


def test_everything_wrong_is_reported_at_once() -> None:
    found = problems({"epsilon": -1, "beta": 2, "stream": {"sums": [True], "thresholds": [], "strict": 3}})
    assert {"$.epsilon", "$.beta", "$.stream.sums[0]", "$.stream.thresholds", "$.stream.strict"} <= set(found)


@given(
    st.dictionaries(
        st.sampled_from([*instance_stream.STREAM_FIELDS]),
        st.recursive(
            st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=4),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
            max_leaves=5,
        ),
    )
)
def test_no_stream_makes_a_traceback(fields: dict[str, Any]) -> None:
    try:
        parsed({"epsilon": 1, "stream": fields})
    except InstanceError as error:
        assert error.problems


def test_the_examples_are_valid_and_read() -> None:
    for file in sorted(EXAMPLES.glob("*.json")):
        VALIDATOR.validate(json.loads(file.read_text(encoding="utf-8")))
        assert parsed(example(file.stem)).description


def test_the_schema_has_the_fields_of_the_reader() -> None:
    schema = selection_schema()
    assert set(schema["properties"]) == {*REQUIRED_FIELDS, *OPTIONAL_FIELDS, *KINDS}
    for name, fields in (
        ("stream", instance_stream.STREAM_FIELDS),
        ("selection", (*instance_mechanisms.SELECTION_REQUIRED, *instance_mechanisms.SELECTION_OPTIONAL)),
        ("exponential", (*instance_mechanisms.EXPONENTIAL_REQUIRED, *instance_mechanisms.EXPONENTIAL_OPTIONAL)),
        ("rounded-laplace", instance_mechanisms.ROUNDED_FIELDS),
        ("compare-to-thresholds", (*instance_mechanisms.COMPARISON_REQUIRED, *instance_mechanisms.COMPARISON_OPTIONAL)),
    ):
        assert set(schema["properties"][name]["properties"]) == set(fields)


STRUCTURAL = [
    "nothing",
    "two kinds",
    "no epsilon",
    "two epsilons",
    "epsilon true",
    "unknown field",
    "no thresholds",
    "strict text",
    "max_yes 0",
    "resample often",
    "empty sums",
    "sums and records",
    "unknown algorithm",
]


@pytest.mark.parametrize("name", STRUCTURAL)
def test_the_schema_refuses_what_is_structurally_wrong(name: str) -> None:
    assert not VALIDATOR.is_valid({"schema": 1, "theory": "selection", **HOSTILE[name]})
