"""The JSON Schema of selection instances, in step with the readers in `certify.selection.instance`."""

from __future__ import annotations

from typing import Any

from certify.selection import instance, instance_mechanisms, instance_stream

JsonSchema = dict[str, Any]


def selection_schema() -> JsonSchema:
    """The schema of an instance with ``"theory": "selection"``; how fields relate is left to the reader."""
    return {
        **_object(
            "An instance of the selection paper: one mechanism and what is claimed of it.",
            {
                "schema": {"const": 1},
                "theory": {"const": "selection"},
                "description": {"type": "string", "minLength": 1, "maxLength": instance.MAX_DESCRIPTION_LENGTH},
                "epsilon": _rational("The claimed ε, in [10^-30, 10^6]."),
                "exp_epsilon": _rational("e^ε in place of ε, above 1."),
                "beta": _rational("The failure probability, in (0,1)."),
                "delta": _rational("The δ of (ε,δ)-differential privacy, in (0,1)."),
                "check": _object(
                    "What to check; everything that applies if left out.",
                    {
                        "statements": {
                            "type": "array",
                            "items": {"type": "string"},
                            "minItems": 1,
                            "maxItems": instance.MAX_STATEMENTS,
                            "uniqueItems": True,
                        }
                    },
                    required=[],
                ),
                "stream": _stream(),
                "selection": _selection(),
                "exponential": _exponential(),
                "rounded-laplace": _rounded_laplace(),
                "compare-to-thresholds": _comparison(),
            },
            required=list(instance.REQUIRED_FIELDS),
        ),
        "allOf": [
            {"oneOf": [{"required": ["epsilon"]}, {"required": ["exp_epsilon"]}]},
            {"oneOf": [{"required": [name]} for name in instance.KINDS]},
        ],
    }


def _stream() -> JsonSchema:
    described = {
        "sums": _vector("f for every query.", instance_stream.MAX_QUERIES),
        "records": _records(instance_stream.MAX_QUERIES),
        "thresholds": {
            "description": "One threshold, or one for each query.",
            "oneOf": [_rational("For all."), _vector("One for each.", instance_stream.MAX_QUERIES)],
        },
        "noise": {"enum": list(instance_stream.NOISES), "default": "laplace"},
        "threshold_scale": _rational("A rational, or an expression in epsilon; 0 is no noise."),
        "query_scale": _rational("A rational, or an expression in epsilon; 0 is no noise."),
        "threshold_ratio": _rational("In [0,1), for geometric noise."),
        "query_ratio": _rational("In [0,1), for geometric noise."),
        "strict": {"description": "Whether yes is > (true) or >=.", "type": "boolean", "default": True},
        "max_yes": {
            "description": "After so many yes answers the stream ends; null is no cap.",
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": instance_stream.MAX_QUERIES,
            "default": 1,
        },
        "resample": {"enum": list(instance_stream.RESAMPLE), "default": "never"},
        "release_value": {"type": "boolean", "default": False},
        "neighbours": _neighbours(list(instance_stream.NEIGHBOUR_WORDS)),
        "n": {"description": "The number of users, which bounds the sums.", "type": "integer", "minimum": 1},
        "output": {
            "description": 'One outcome to judge: an index from 1, "none", or one y or n for each answer.',
            "type": ["integer", "string"],
        },
        "value": _rational("The value released with the yes."),
    }
    return {
        **_object("A stream of threshold queries.", described, required=["thresholds"]),
        "oneOf": [{"required": ["sums"]}, {"required": ["records"]}],
    }


def _selection() -> JsonSchema:
    described = {
        "algorithm": {"enum": list(instance_mechanisms.ALGORITHMS)},
        "sums": _vector("The score of every candidate, in [0,n].", instance_mechanisms.MAX_CANDIDATES),
        "records": _records(instance_mechanisms.MAX_CANDIDATES),
        "n": {"description": "The number of users.", "type": "integer", "minimum": 1},
        "alpha_factor": _rational("The constant of α_t in Algorithm 8, 32 in the paper."),
        "rounds": {"type": "integer", "minimum": 1, "maximum": instance_mechanisms.MAX_ROUNDS},
    }
    return {
        **_object("A run of Algorithm 6-9.", described, required=list(instance_mechanisms.SELECTION_REQUIRED)),
        "oneOf": [{"required": ["sums"]}, {"required": ["records"]}],
    }


def _exponential() -> JsonSchema:
    described = {
        "scores": _vector("The scores.", instance_mechanisms.MAX_SCORES),
        "sensitivity": _rational("The sensitivity that the mechanism assumes."),
        "neighbours": _neighbours(["box"]),
        "draws": {"type": "integer", "minimum": 1, "maximum": instance_mechanisms.MAX_DRAWS, "default": 1},
        "repeat": {"description": "Whether a score can be drawn again.", "type": "boolean", "default": True},
    }
    required = list(instance_mechanisms.EXPONENTIAL_REQUIRED)
    return _object("Exponential mechanisms, each at its share of ε.", described, required)


def _rounded_laplace() -> JsonSchema:
    described = {
        "scale": _rational("The scale, sensitivity/ε if left out."),
        "sensitivity": {"type": "integer", "minimum": 1, "maximum": 10**6, "default": 1},
    }
    return _object("An integer with rounded Laplace noise.", described, required=[])


def _comparison() -> JsonSchema:
    query = _object(
        "A query with its two thresholds, asked so many times in a row.",
        {
            **{name: _rational(f"The {name}.") for name in instance_mechanisms.QUERY_REQUIRED},
            "count": {"type": "integer", "minimum": 1, "maximum": instance_mechanisms.MAX_REPEATS, "default": 1},
        },
        required=list(instance_mechanisms.QUERY_REQUIRED),
    )
    described = {
        "queries": {
            "type": "array",
            "items": query,
            "minItems": 1,
            "maxItems": instance_mechanisms.MAX_COMPARISONS,
        },
        "threshold_scale": _rational("A rational, or an expression in epsilon."),
        "query_scale": _rational("A rational, or an expression in epsilon."),
        "first_test": {"enum": list(instance_mechanisms.FIRST_TESTS), "default": "high"},
        "check_gap": {"description": "Whether a narrow gap is refused.", "type": "boolean", "default": True},
        "output": {"description": "One outcome to judge, such as HHC.", "type": "string"},
    }
    required = list(instance_mechanisms.COMPARISON_REQUIRED)
    return _object("A sequence of queries to CompareToThresholds.", described, required)


def _neighbours(words: list[str]) -> JsonSchema:
    given = _object("One given vector.", {"against": _vector("Its sums.", instance_stream.MAX_QUERIES)}, ["against"])
    return {"oneOf": [{"enum": words}, given], "default": "box"}


def _records(most: int) -> JsonSchema:
    return {
        "description": "One row of values for each user, clipped to [0,1].",
        "type": "array",
        "items": _vector("Values.", most),
        "minItems": 1,
        "maxItems": instance_stream.MAX_RECORDS,
    }


def _vector(description: str, most: int) -> JsonSchema:
    return {
        "description": description,
        "type": "array",
        "items": _rational("A rational."),
        "minItems": 1,
        "maxItems": most,
    }


def _rational(description: str) -> JsonSchema:
    return {
        "description": f'{description} A number, read exactly, or text such as "1/3".',
        "type": ["number", "string"],
    }


def _object(description: str, properties: JsonSchema, required: list[str]) -> JsonSchema:
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
