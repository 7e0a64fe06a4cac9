"""The JSON Schema (2020-12) of instance files, in step with the readers of the instances."""

from typing import Any

from certify.release import instance as release
from certify.release.tuning import tuning_names
from certify.selection.instance_schema import selection_schema

JsonSchema = dict[str, Any]

RATIONAL = r"^-?[0-9]+(/[0-9]+|(\.[0-9]+)?([eE][+-]?[0-9]+)?)$"


def instance_schema() -> JsonSchema:
    """The schema: one of the theories' instances.

    It states the structure and the bounds that JSON Schema can state. What remains is checked on reading: the
    values of expressions, rows that are elements of the universe, one query value per element.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Instance of python -m certify",
        "oneOf": [{"$ref": "#/$defs/release"}, {"$ref": "#/$defs/selection"}],
        "$defs": {
            "release": _release(),
            "selection": selection_schema(),
            "name": {"type": "string", "minLength": 1, "maxLength": release.MAX_NAME_LENGTH},
            "quantity": {
                "description": (
                    'A positive number, read exactly (0.1 is 1/10), or an expression such as "128*log(2*k)" '
                    "in n, T, k and, where they are given, epsilon and alpha."
                ),
                "type": ["number", "string"],
                "exclusiveMinimum": 0,
            },
            "fraction": {
                "description": "A quantity of at most 1.",
                "$ref": "#/$defs/quantity",
                "maximum": 1,
            },
        },
    }


def _release() -> JsonSchema:
    rows = {"type": "integer", "minimum": 1, "maximum": release.MAX_ROWS}
    return _object(
        "An instance of the release paper.",
        {
            "schema": {"const": 1},
            "theory": {"const": "release"},
            "description": {
                "description": "One line on what the instance shows.",
                "type": "string",
                "minLength": 1,
                "maxLength": release.MAX_DESCRIPTION_LENGTH,
            },
            "universe": {
                "description": "The names of the T elements.",
                "type": "array",
                "items": {"$ref": "#/$defs/name"},
                "minItems": 1,
                "maxItems": release.MAX_UNIVERSE,
                "uniqueItems": True,
            },
            "queries": _query_table(),
            "database": _database(),
            "n": {"description": 'The number of rows; needed beside "all".', **rows},
            "epsilon": {"$ref": "#/$defs/quantity"},
            "mechanism": _mechanism(),
            "check": _check(),
        },
        required=list(release.REQUIRED_FIELDS),
    ) | {
        "if": {"properties": {"database": {"const": "all"}}},
        "then": {"required": ["n"]},
    }


def _query_table() -> JsonSchema:
    value = {"type": ["number", "string"], "minimum": -1, "maximum": 1, "pattern": RATIONAL}
    return {
        "description": "Each of the k queries by name: its values in [-1,1], in the order of the universe.",
        "type": "object",
        "propertyNames": {"$ref": "#/$defs/name"},
        "minProperties": 1,
        "maxProperties": release.MAX_QUERIES,
        "additionalProperties": {
            "type": "array",
            "items": value,
            "minItems": 1,
            "maxItems": release.MAX_UNIVERSE,
        },
    }


def _database() -> JsonSchema:
    return {
        "description": 'A list of rows, the number of rows of each element, or "all" databases of n rows.',
        "oneOf": [
            {"const": "all"},
            {"type": "array", "items": {"$ref": "#/$defs/name"}, "minItems": 1},
            {
                "type": "object",
                "propertyNames": {"$ref": "#/$defs/name"},
                "additionalProperties": {"type": "integer", "minimum": 0, "maximum": release.MAX_ROWS},
                "minProperties": 1,
                "maxProperties": release.MAX_UNIVERSE,
            },
        ],
    }


def _mechanism() -> JsonSchema:
    return {
        "oneOf": [
            {"description": "The mechanism of the proof of Theorem 1.1.", "const": "theorem"},
            _object(
                "Rounds, step and rate of the envelope mechanism.",
                {
                    "rounds": {"type": "integer", "minimum": 1, "maximum": release.MAX_ROUNDS},
                    "eta": {"$ref": "#/$defs/quantity"},
                    "gamma": {"$ref": "#/$defs/fraction"},
                },
                required=list(release.EXPLICIT_FIELDS),
            ),
            _object(
                "The choices (8.3).",
                {"alpha": {"$ref": "#/$defs/fraction"}},
                required=list(release.ALPHA_FIELDS),
            ),
            _object(
                "The mechanism of the proof of a smaller constant, by the name of its rung.",
                {"tuned": {"enum": list(tuning_names())}},
                required=list(release.TUNED_FIELDS),
            ),
        ]
    }


def _check() -> JsonSchema:
    return _object(
        "What to check; everything that applies if left out.",
        {
            "code_lengths": {
                "description": "The lengths m of the codes of section 5.",
                "type": "array",
                "items": {"type": "integer", "minimum": 1, "maximum": release.MAX_CODE_LENGTH},
                "minItems": 1,
                "uniqueItems": True,
                "default": list(release.DEFAULT_CODE_LENGTHS),
            },
            "statements": {
                "description": "The ids of the statements to check.",
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": release.MAX_STATEMENTS,
                "uniqueItems": True,
            },
            "amplify": _object(
                "Section 9: the median of several copies must be within the error.",
                {
                    "copies": {"type": "integer", "minimum": 1, "maximum": release.MAX_COPIES},
                    "error": {"$ref": "#/$defs/quantity"},
                },
                required=list(release.AMPLIFY_FIELDS),
            ),
        },
        required=[],
    )


def _object(description: str, properties: JsonSchema, required: list[str]) -> JsonSchema:
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
