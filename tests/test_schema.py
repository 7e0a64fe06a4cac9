"""certify.schema: the JSON Schema of instance files agrees with the reader."""

import json
from pathlib import Path
from typing import Any

import pytest
from hostile_cases import CASES, FIELDS, STATEMENTS, Hostile, instance
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from certify.instance_file import InstanceError, parse_instance_bytes
from certify.release import instance as release
from certify.schema import RATIONAL, instance_schema

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.json"))
VALIDATOR = Draft202012Validator(instance_schema())


def is_read(content: bytes) -> bool:
    try:
        release.parse_release_instance(parse_instance_bytes(content), STATEMENTS)
    except InstanceError:
        return False
    return True


def test_the_schema_is_a_schema_and_plain_json() -> None:
    Draft202012Validator.check_schema(instance_schema())
    assert json.loads(json.dumps(instance_schema())) == instance_schema()


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_are_valid(file: Path) -> None:
    VALIDATOR.validate(json.loads(file.read_text(encoding="utf-8")))


def test_the_field_lists_are_those_of_the_reader() -> None:
    schema = instance_schema()["$defs"]["release"]
    _, explicit, alpha, tuned = schema["properties"]["mechanism"]["oneOf"]
    check = schema["properties"]["check"]
    amplify = check["properties"]["amplify"]
    for described, required, optional in (
        (schema, release.REQUIRED_FIELDS, release.OPTIONAL_FIELDS),
        (explicit, release.EXPLICIT_FIELDS, ()),
        (alpha, release.ALPHA_FIELDS, ()),
        (tuned, release.TUNED_FIELDS, ()),
        (check, (), release.CHECK_FIELDS),
        (amplify, release.AMPLIFY_FIELDS, ()),
    ):
        assert set(described["properties"]) == {*required, *optional}
        assert set(described["required"]) == set(required)
        assert described["additionalProperties"] is False


STRUCTURAL = [
    "empty object",
    "other schema",
    "other theory",
    "unknown field",
    "unknown field of check",
    "universe as integer",
    "empty universe",
    "no queries",
    "query without a name",
    "query of booleans",
    "query of expressions",
    "rows that are no names",
    "no rows",
    "negative count",
    "half a row",
    "count as string",
    "all databases of unknown size",
    "n = 0",
    "rounds 0",
    "rounds 10^9",
    "rounds 1.5",
    "rounds as boolean",
    "eta 0",
    "gamma 0",
    "alpha 0",
    "two forms at once",
    "unknown rung",
    "rung as number",
    "rung with rounds",
    "no form",
    "mechanism of another name",
    "check as list",
    "code lengths",
    "no code lengths",
    "amplify",
]


@pytest.mark.parametrize("case", [case for case in CASES if case.name in STRUCTURAL], ids=lambda case: case.name)
def test_structural_problems_are_invalid(case: Hostile) -> None:
    assert not VALIDATOR.is_valid(json.loads(case.content))


def test_the_structural_cases_exist() -> None:
    assert set(STRUCTURAL) <= {case.name for case in CASES}


values = st.one_of(
    st.integers(-2, 5),
    st.booleans(),
    st.sampled_from(["1/2", "all", "theorem", "a", "b", "thm-1.1", None, [], {}]),
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=3),
    st.dictionaries(st.sampled_from(["a", "b", "q", "alpha", "code_lengths"]), st.integers(-1, 2), max_size=2),
    st.dictionaries(st.sampled_from(["q", "r"]), st.lists(st.sampled_from([0, 1, "1/2", 2]), max_size=3)),
)


@given(st.dictionaries(st.sampled_from([*FIELDS, "n", "check", "description", "other"]), values, max_size=3))
def test_what_is_read_is_valid(changes: dict[str, Any]) -> None:
    content = instance(**{name: json.dumps(value) for name, value in changes.items()})
    if is_read(content):
        VALIDATOR.validate(json.loads(content))


@pytest.mark.parametrize(
    "text",
    ["1", "-1", "1/3", "-1/3", "0.25", "1e-9", "1E+0", "0.5e0", "٣", "1_0", " 1", "1.", ".5", "1/2e1", ""],
)
def test_the_pattern_of_query_values_is_the_readers(text: str) -> None:
    pattern = {"type": "string", "pattern": RATIONAL}
    content = instance(queries=json.dumps({"q": [text, 0]}))
    assert Draft202012Validator(pattern).is_valid(text) == is_read(content)
