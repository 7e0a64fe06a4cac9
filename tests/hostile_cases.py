"""Hostile input for the tests: what is given, and the path and message of each problem to be reported."""

import json
from dataclasses import dataclass

STATEMENTS = ("eq-3.3", "lemma-5.1", "thm-1.1")

FIELDS = {  # JSON text of a small instance
    "schema": "1",
    "theory": '"release"',
    "universe": '["a", "b"]',
    "queries": '{"q": [1, -1]}',
    "database": '{"a": 2, "b": 1}',
    "epsilon": '"1/2"',
    "mechanism": '{"rounds": 2, "eta": 1, "gamma": "1/4"}',
}


def instance(more: str = "", **changes: str) -> bytes:
    """The small instance with some fields replaced by other JSON text, and with `more` text at the end."""
    fields = FIELDS | changes
    return ("{" + ", ".join(f'"{name}": {text}' for name, text in fields.items()) + more + "}").encode()


def mechanism(rounds: str = "2", eta: str = "1", gamma: str = "1") -> bytes:
    return instance(mechanism=f'{{"rounds": {rounds}, "eta": {eta}, "gamma": {gamma}}}')


@dataclass(frozen=True)
class Hostile:
    """Input bytes, and for each line of the answer its JSON path and a part of its message."""

    name: str
    content: bytes
    problems: tuple[tuple[str, str], ...]


def hostile(name: str, content: bytes, *problems: tuple[str, str]) -> Hostile:
    return Hostile(name, content, problems)


def epsilon(name: str, text: str, part: str) -> Hostile:
    return hostile(name, instance(epsilon=text), ("$.epsilon", part))


CASES = [
    # the file
    hostile("empty file", b"", ("$", "is empty: write one JSON object")),
    hostile("blank file", b"\n \n", ("$", "is empty")),
    hostile("byte order mark", b"\xef\xbb\xbf" + instance(), ("$", "save the file as UTF-8 without BOM")),
    hostile("UTF-16", instance().decode().encode("utf-16"), ("$", "is UTF-16 text: save the file as UTF-8")),
    hostile("Latin-1", instance(universe='["a", "\u00e9"]').decode().encode("latin-1"), ("$", "is not UTF-8 text")),
    hostile("binary", b"\x7fELF\x02\x01\x01\x00\xff\xfe" * 50, ("$", "is not UTF-8 text")),
    hostile("null bytes", b"\x00" * 1000, ("$", "is not JSON at line 1, column 1")),
    hostile("prose", b"epsilon = 1", ("$", "is not JSON at line 1, column 1")),
    hostile("two objects", instance() + instance(), ("$", "remove what follows the end")),
    hostile("cut short", instance()[:-5], ("$", "is not JSON at line 1")),
    hostile("Python literal", b"{'schema': 1}", ("$", "a field name in double quotes")),
    hostile("a list", b"[" + instance() + b"]", ("$", "a list is not an instance")),
    hostile("too large", instance(description='"' + "x" * 2**20 + '"'), ("$", "is larger than 1,048,576 bytes")),
    hostile("100,000 brackets", b"[" * 100_000, ("$", "nested more than 20 deep")),
    hostile("100,000 closed brackets", b"[" * 100_000 + b"]" * 100_000, ("$", "nested more than 20 deep")),
    hostile("100,000 objects", b'{"a":' * 100_000, ("$", "nested more than 20 deep")),
    hostile(
        "300 brackets",
        instance(n="[" * 300 + "]" * 300),
        ("$.n" + "[0]" * 19, "nested more than 20 deep"),
        ("$.n", "a list is not an integer"),
    ),
    hostile("duplicate key", instance(', "epsilon": 2'), ("$.epsilon", "is given 2 times: keep one")),
    hostile("duplicate query", instance(queries='{"q": [1, 0], "q": [0, 1]}'), ("$.queries.q", "is given 2 times")),
    hostile(
        "duplicate element",
        instance(universe='["a", "a"]'),
        ("$.universe[1]", '"a" is in the universe already'),
        ("$.database.b", '"b" is not an element'),
    ),
    hostile(
        "lone surrogate",
        instance(universe='["a", "b\\ud800"]'),
        ("$.universe[1]", "lone surrogate"),
        ("$.database.b", '"b" is not an element'),
    ),
    hostile(
        "lone surrogate in a field name",
        instance(', "\\udead": 1'),
        ('$["\\udead"]', "lone surrogate"),
        ('$["\\udead"]', "unknown field: write one of"),
    ),
    # numbers
    epsilon("NaN", "NaN", 'NaN is not a number: write an exact number such as 0.5 or "1/3"'),
    epsilon("Infinity", "Infinity", "Infinity is not a number"),
    epsilon("negative infinity", "-Infinity", "-Infinity is not a number"),
    epsilon("boolean", "true", "true is not a number: write one"),
    epsilon("null", "null", "null is not a number"),
    epsilon("list", "[1]", "a list is not a number"),
    epsilon("object", "{}", "an object is not a number"),
    epsilon("exponent of three million", "1e3000000", "has an exponent beyond ±9999"),
    epsilon("the same in a string", '"1e3000000"', "has an exponent beyond ±9999"),
    epsilon("negative exponent", "1e-3000000", "has an exponent beyond ±9999"),
    epsilon("100,000 digits", "9" * 100_000, "a number of 100000 characters is too long"),
    epsilon("100,000 decimals", "0." + "3" * 100_000, "is too long"),
    epsilon("100,000 digits in a string", '"' + "9" * 100_000 + '"', "of 100000 characters is too long"),
    epsilon("zero", "0", "0 is not greater than 0: write a positive number"),
    epsilon("negative", "-0.5", "-0.5 is not greater than 0"),
    epsilon("too small", '"10^-301"', "is below 10^-300: write a larger number"),
    epsilon("too large", "1e301", "is above 10^300: write a smaller number"),
    epsilon("empty string", '""', "is not an expression: column 1"),
    epsilon("not ASCII digits", '"\u0661\u0662"', "is not an expression: column 1"),
    epsilon("underscore", '"1_000"', "is not an expression: column 2"),
    epsilon("hexadecimal", '"0x10"', "is not an expression: column 2"),
    # expressions
    epsilon("code", "\"__import__('os').system('touch owned')\"", "is not an expression: column 12"),
    epsilon("attribute", '"n.__class__"', "is not an expression: column 2"),
    epsilon("comprehension", '"[n for n in (1,)][0]"', "is not an expression: column 1"),
    epsilon("lambda", '"(lambda: 1)()"', "is not an expression"),
    epsilon("power written **", '"2**3"', "write ^ for a power"),
    epsilon("tower of powers", '"2^2^2^2^2^2"', "the exact value may need more than"),
    epsilon("product of powers", '"' + "*".join(["2^5000"] * 400) + '"', "operations are more than 100 deep"),
    epsilon("10,000 brackets", '"' + "(" * 2_400 + "1" + ")" * 2_400 + '1"', "is not an expression"),
    epsilon("tower of exponentials", '"exp(exp(exp(exp(9))))"', "cannot be compared with 0 (no finite enclosure"),
    epsilon("division by zero", '"1/0"', "has no value (division by zero"),
    epsilon("hidden division by zero", '"1/(n-3)"', "has no value (division by zero"),
    epsilon("logarithm of zero", '"log(0)"', "has no value (the logarithm of a number that is not positive"),
    epsilon("logarithm of a hidden zero", '"log(sqrt(2)^2-2)"', "cannot be separated from 0 at 4096 bits"),
    epsilon("root of a negative number", '"sqrt(-1)"', "has no value (the square root of a negative number"),
    epsilon("zero by cancellation", '"exp(1)-exp(1)"', "cannot be compared with 0"),
    epsilon("ceiling of a tie", '"ceil(log(exp(1)))"', "cannot be separated from the integer 1 at 4096 bits"),
    epsilon("unknown name", '"epsilon/2"', 'uses the unknown name "epsilon": write one of "n", "T", "k"'),
    epsilon("name in capitals", '"1/N"', 'uses the unknown name "N": did you mean "n"?'),
    epsilon("unknown function", '"system(1)"', "unknown function 'system'"),
    # the instance
    hostile(
        "empty object",
        b"{}",
        ("$.schema", "is missing: write 1"),
        ("$.theory", "is missing"),
        ("$.universe", "is missing"),
        ("$.queries", "is missing"),
        ("$.database", "is missing"),
        ("$.epsilon", "is missing"),
        ("$.mechanism", "is missing"),
    ),
    hostile("other schema", instance(schema="2"), ("$.schema", "2 is not a schema that this program reads")),
    hostile("schema as string", instance(schema='"1"'), ("$.schema", '"1" is not a schema')),
    hostile("schema as boolean", instance(schema="true"), ("$.schema", "true is not a schema")),
    hostile("other theory", instance(theory='"telepathy"'), ("$.theory", 'write "release"')),
    hostile("unknown field", instance(', "epsilonn": 1'), ("$.epsilonn", 'did you mean "epsilon"?')),
    hostile(
        "unknown field of the mechanism",
        instance(mechanism='{"alpha": 1, "beta": 1}'),
        ("$.mechanism.beta", "unknown field"),
    ),
    hostile(
        "unknown field of check",
        instance(', "check": {"statement": ["lemma-5.1"]}'),
        ("$.check.statement", 'unknown field: did you mean "statements"?'),
    ),
    hostile(
        "description of two lines",
        instance(', "description": "a\\nb"'),
        ("$.description", "is not a printable text"),
    ),
    hostile(
        "universe of numbers",
        instance(universe='["a", "b", 3]', queries='{"q": [1, 0, 0]}'),
        ("$.universe[2]", "3 is not a string: put it in double quotes"),
    ),
    hostile(
        "universe as integer",
        instance(universe="2"),
        ("$.universe", "2 is not a list: give a list of elements"),
    ),
    hostile("empty universe", instance(universe="[]"), ("$.universe", "has no elements: give at least 1")),
    hostile(
        "huge universe",
        instance(universe="[" + '"",' * 20_000 + '""]'),
        ("$.universe", "has 20,001 elements: give at most 10,000"),
        ("$.queries.q", "has 2 values, but"),
    ),
    hostile(
        "terminal codes in a name",
        instance(universe='["a", "b", "\\u001b[2J"]', queries='{"q": [1, 0, 0]}'),
        ("$.universe[2]", '"\\x1b[2J" is not a printable text'),
    ),
    hostile("no queries", instance(queries="{}"), ("$.queries", "has no queries")),
    hostile("queries as a list", instance(queries="[[1, 0]]"), ("$.queries", "a list is not an object")),
    hostile(
        "too many queries",
        instance(queries=json.dumps({f"q{i}": [1, 0] for i in range(10_001)})),
        ("$.queries", "has 10,001 queries: give at most 10,000"),
    ),
    hostile("query without a name", instance(queries='{"": [1, 0]}'), ('$.queries[""]', "query's name")),
    hostile(
        "query outside [-1,1]",
        instance(queries='{"q1": [0, "3/2"]}'),
        ("$.queries.q1[1]", '"3/2" is outside [-1,1]: scale the query'),
    ),
    hostile(
        "query just outside [-1,1]",
        instance(queries='{"q": [-1, -1.' + "0" * 300 + "1]}"),
        ("$.queries.q[1]", "is outside [-1,1]"),
    ),
    hostile(
        "query of the wrong length",
        instance(queries='{"q": [1]}'),
        ("$.queries.q", "has 1 value, but the universe has 2 elements: give one value per element"),
    ),
    hostile(
        "query of booleans",
        instance(queries='{"q": [true, false]}'),
        ("$.queries.q[0]", "true is not a number"),
        ("$.queries.q[1]", "false is not a number"),
    ),
    hostile(
        "query of expressions",
        instance(queries='{"q": ["1/k", "sqrt(1/4)"]}'),
        ("$.queries.q[0]", "is not a number"),
        ("$.queries.q[1]", "is not a number"),
    ),
    hostile(
        "query with a huge denominator",
        instance(queries='{"q": [1e-400, 1]}'),
        ("$.queries", "common denominator of all values has more than 1,024 bits: round"),
    ),
    hostile(
        "unknown row",
        instance(database='["a", "c", "B"]'),
        ("$.database[1]", '"c" is not an element of the universe: write one of "a", "b"'),
        ("$.database[2]", '"B" is not an element of the universe: did you mean "b"?'),
    ),
    hostile(
        "rows that are no names",
        instance(database='["a", 0, true, null, ["a"]]'),
        *((f"$.database[{i}]", "is not a string: put it in double quotes") for i in range(1, 5)),
    ),
    hostile("no rows", instance(database="[]"), ("$.database", "has no rows")),
    hostile("empty histogram", instance(database="{}"), ("$.database", "has no elements")),
    hostile("histogram of zeros", instance(database='{"a": 0}'), ("$.database", "has 0 rows: give at least 1")),
    hostile("unknown element", instance(database='{"a": 1, "c": 1}'), ("$.database.c", '"c" is not an element')),
    hostile(
        "negative count",
        instance(database='{"a": -1, "b": 3}'),
        ("$.database.a", "-1 is too small: the least is 0"),
    ),
    hostile("half a row", instance(database='{"a": 1.5}'), ("$.database.a", "1.5 is not an integer")),
    hostile("count as string", instance(database='{"a": "1"}'), ("$.database.a", "without quotes")),
    hostile("count as boolean", instance(database='{"a": true}'), ("$.database.a", "true is not an integer")),
    hostile(
        "10^9999 rows",
        instance(database='{"a": 1e9999}'),
        ("$.database.a", "1e9999 is too large: the greatest is 1,000,000,000,000"),
    ),
    hostile("database of another kind", instance(database='"every"'), ("$.database", '"every" is not a database')),
    hostile("all databases of unknown size", instance(database='"all"'), ("$.n", "is missing: give the number")),
    hostile("n contradicts the rows", instance(', "n": 4'), ("$.n", "4 is not the database's number of rows, 3")),
    hostile("n = 0", instance(', "n": 0', database='"all"'), ("$.n", "0 is too small: the least is 1")),
    # the mechanism
    hostile("rounds 0", mechanism(rounds="0"), ("$.mechanism.rounds", "0 is too small: the least is 1")),
    hostile(
        "rounds 10^9",
        mechanism(rounds="1000000000"),
        ("$.mechanism.rounds", "is too large: the greatest is 1,000,000, since every round multiplies"),
    ),
    hostile("rounds 1.5", mechanism(rounds="1.5"), ("$.mechanism.rounds", "1.5 is not an integer")),
    hostile("rounds as boolean", mechanism(rounds="true"), ("$.mechanism.rounds", "true is not an integer")),
    hostile("rounds as string", mechanism(rounds='"3"'), ("$.mechanism.rounds", "without quotes")),
    hostile("eta 0", mechanism(eta="0"), ("$.mechanism.eta", "0 is not greater than 0")),
    hostile("eta in alpha", mechanism(eta='"1/alpha"'), ("$.mechanism.eta", 'unknown name "alpha"')),
    hostile("gamma 0", mechanism(gamma="0.0"), ("$.mechanism.gamma", "0.0 is not greater than 0")),
    hostile(
        "gamma above 1",
        mechanism(gamma="1.0000000000000000001"),
        ("$.mechanism.gamma", "is greater than 1: write a number in (0,1]"),
    ),
    hostile(
        "gamma that no interval settles",
        mechanism(gamma='"log(exp(1))"'),
        ("$.mechanism.gamma", "cannot be compared with 1 (the two sides cannot be separated at 4096 bits)"),
    ),
    hostile("alpha 0", instance(mechanism='{"alpha": 0}'), ("$.mechanism.alpha", "0 is not greater than 0")),
    hostile(
        "alpha above 1",
        instance(mechanism='{"alpha": "3/2"}', check='{"amplify": {"copies": 1, "error": "alpha"}}'),
        ("$.mechanism.alpha", '"3/2" is greater than 1'),
    ),
    hostile(
        "two forms at once",
        instance(mechanism='{"alpha": 1, "rounds": 2}'),
        ("$.mechanism", "gives alpha and rounds: keep alpha alone"),
    ),
    hostile(
        "no form",
        instance(mechanism="{}"),
        ("$.mechanism.rounds", "is missing: write an integer"),
        ("$.mechanism.eta", "is missing"),
        ("$.mechanism.gamma", "is missing"),
    ),
    hostile(
        "unknown rung",
        instance(mechanism='{"tuned": "eight"}'),
        ("$.mechanism.tuned", '"eight" is not a rung of the smaller constant: write one of "1"'),
    ),
    hostile(
        "rung as number",
        instance(mechanism='{"tuned": 8}'),
        ("$.mechanism.tuned", "8 is not a string: put it in double quotes"),
    ),
    hostile(
        "rung with rounds",
        instance(mechanism='{"tuned": "8", "rounds": 2}'),
        ("$.mechanism", "gives tuned and rounds: keep tuned alone, or leave it out"),
    ),
    hostile(
        "mechanism of another name",
        instance(mechanism='"laplace"'),
        ("$.mechanism", '"laplace" is not a mechanism: give {"rounds"'),
    ),
    hostile("mechanism as number", instance(mechanism="3"), ("$.mechanism", "3 is not a mechanism")),
    # what to check
    hostile("check as list", instance(', "check": []'), ("$.check", "a list is not an object: give the fields")),
    hostile(
        "code lengths",
        instance(', "check": {"code_lengths": [0, 5, 1, 1]}'),
        ("$.check.code_lengths[0]", "0 is too small"),
        ("$.check.code_lengths[1]", "5 is too large"),
        ("$.check.code_lengths[3]", "1 is listed already: remove it"),
    ),
    hostile(
        "too many code lengths",
        instance(', "check": {"code_lengths": [1, 2, 3, 4, 4]}'),
        ("$.check.code_lengths", "has 5 code lengths: give at most 4"),
    ),
    hostile(
        "no code lengths",
        instance(', "check": {"code_lengths": []}'),
        ("$.check.code_lengths", "give at least 1"),
    ),
    hostile(
        "unknown statement",
        instance(', "check": {"statements": ["lemma-51", "thm-1.1", "thm-1.1"]}'),
        ("$.check.statements[0]", '"lemma-51" is not the id of a statement: did you mean "lemma-5.1"?'),
        ("$.check.statements[2]", '"thm-1.1" is listed already'),
    ),
    hostile(
        "amplify",
        instance(', "check": {"amplify": {"copies": 0, "error": "-1", "eror": 1}}'),
        ("$.check.amplify.eror", 'unknown field: did you mean "error"?'),
        ("$.check.amplify.copies", "0 is too small"),
        ("$.check.amplify.error", '"-1" is not greater than 0'),
    ),
    hostile(
        "everything at once",
        instance(', "extra": NaN', epsilon="0", queries='{"q": [2, null]}', schema="9"),
        ("$.extra", "NaN is not a number"),
        ("$.extra", "unknown field"),
        ("$.schema", "9 is not a schema"),
        ("$.queries.q[0]", "2 is outside [-1,1]"),
        ("$.queries.q[1]", "null is not a number"),
        ("$.epsilon", "0 is not greater than 0"),
    ),
]
