"""certify.instance_file: strict JSON, numbers as text, paths for every problem."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certify.instance_file import (
    MAX_DEPTH,
    MAX_FILE_BYTES,
    MAX_PROBLEMS_SHOWN,
    REFUSED,
    InputProblem,
    InstanceError,
    InstanceTree,
    JsonNumber,
    JsonValue,
    member_path,
    parse_instance_bytes,
    printable,
    quoted,
    read_instance_file,
    shown,
)


def problems_of(content: bytes) -> list[InputProblem]:
    return list(parse_instance_bytes(content).problems)


def message_of(content: bytes) -> str:
    with pytest.raises(InstanceError) as caught:
        parse_instance_bytes(content)
    ((path, message),) = caught.value.problems
    assert path == "$"
    return message


def test_a_file_becomes_a_tree_that_knows_its_source_and_hash(tmp_path: Path) -> None:
    file = tmp_path / "instance.json"
    content = b' {"schema": 1, "queries": {"q": [0.10, "1/3", true, null]}}\n'
    file.write_bytes(content)
    tree = read_instance_file(file)
    assert tree == {"schema": JsonNumber("1"), "queries": {"q": [JsonNumber("0.10"), "1/3", True, None]}}
    assert tree.source == str(file)
    assert tree.sha256 == hashlib.sha256(content).hexdigest()
    assert tree.problems == ()


@pytest.mark.parametrize(
    "text",
    ["0", "-0", "0.1", "1E+5", "1e-9", "12345678901234567890", "0." + "3" * 400, "1e3000000", "9" * 100_000],
)
def test_a_number_keeps_its_text(text: str) -> None:
    assert parse_instance_bytes(f'{{"x": {text}}}'.encode()) == {"x": JsonNumber(text)}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def tree_of(value: object) -> JsonValue:
    if isinstance(value, dict):
        return {name: tree_of(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [tree_of(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return JsonNumber(str(value))
    return value  # type: ignore[return-value]


@given(st.dictionaries(st.text(), json_values, max_size=4))
@example({"a": {"a": [True, 1, 0, False, None, "", {}, []]}})
def test_every_json_object_is_read_back(value: dict[str, object]) -> None:
    assert parse_instance_bytes(json.dumps(value).encode()) == tree_of(value)


@given(st.binary(max_size=60))
@example(b'{"a":')
@example(b"\xc3\x28")
@example(b'{"\\ud800": NaN}')
@example(b"{}" + b"\x00")
def test_any_bytes_give_a_tree_or_an_instance_error(content: bytes) -> None:
    try:
        assert isinstance(parse_instance_bytes(content), InstanceTree)
    except InstanceError as error:
        assert len(error.problems) == 1
        assert len(str(error).splitlines()) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: "),
        (b" \n\t", "is empty: "),
        (b"\xef\xbb\xbf{}", "starts with a byte order mark: save the file as UTF-8 without BOM"),
        ('{"a": 1}'.encode("utf-16"), "is UTF-16 text: save"),
        (b'{"a": "\xff"}', "is not UTF-8 text (byte 7): save the file as UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "is not UTF-8 text (byte 7): "),
        (b"[1]", "a list is not an instance: write one JSON object"),
        (b"12", "12 is not an instance: "),
        (b'"x"', '"x" is not an instance: '),
        (b"true", "true is not an instance: "),
        (b"null", "null is not an instance: "),
        (b"NaN", "NaN is not an instance: "),
        (b"{'a': 1}", "is not JSON at line 1, column 2: a field name in double quotes"),
        (b'{"a": 1,\n}', "is not JSON at line "),
        (
            b'{"a": 1/3}',
            "is not JSON at line 1, column 8: a comma or a closing bracket is needed here (expressions",
        ),
        (b'{"a": .5}', "is not JSON at line 1, column 7: a value is needed here"),
        (b'{"a": +1}', "is not JSON at line 1, column 7: a value is needed here"),
        (b'{"a": 01}', "is not JSON at line 1, column 8: "),
        (b'{"a": 0x10}', "is not JSON at line 1, column 8: "),
        (b'{"a" 1}', "is not JSON at line 1, column 6: a colon is needed here"),
        (b'{"a": 1} {}', "is not JSON at line 1, column 10: remove what follows the end"),
        (b'{"a": "b', "is not JSON at line 1, column 7: the string that starts here is never closed"),
        (b'{"a": "\n"}', "is not JSON at line 1, column 8: a line break or control character"),
        (b'{"a": "\\x"}', "is not JSON at line 1, column 8: a backslash in a string is written \\\\"),
        (b'{"a": 1} // note', "is not JSON at line 1, column 10: remove what follows"),
        (b"[" * 100_000, f"brackets are nested more than {MAX_DEPTH} deep"),
        (b'{"a":' * 100_000, f"brackets are nested more than {MAX_DEPTH} deep"),
        (b" " * (MAX_FILE_BYTES + 1), f"is larger than {MAX_FILE_BYTES:,} bytes: "),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_what_is_no_instance_is_refused_with_the_fix(content: bytes, message: str) -> None:
    assert message_of(content).startswith(message)


def test_a_file_of_the_greatest_size_is_read() -> None:
    content = b'{"a": "' + b"x" * (MAX_FILE_BYTES - 9) + b'"}'
    assert len(content) == MAX_FILE_BYTES
    assert len(str(parse_instance_bytes(content)["a"])) == MAX_FILE_BYTES - 9


def test_a_key_given_twice_is_reported_once_under_its_path() -> None:
    content = b'{"a": {"b": 1, "b": 2, "b": 2}, "c": [{"d e": 1, "d e": 1}], "f": {"a": 1}}'
    assert problems_of(content) == [
        InputProblem("$.a.b", "is given 3 times: keep one"),
        InputProblem('$.c[0]["d e"]', "is given 2 times: keep one"),
    ]


def test_an_object_dropped_by_a_repeated_key_leaves_no_trace() -> None:
    content = b'{"a": {"x": 1, "x": 1}, "a": {"y": 1}, "b": {"z": 1}}'
    assert problems_of(content) == [InputProblem("$.a", "is given 2 times: keep one")]


def test_not_a_number_is_refused_where_it_stands() -> None:
    tree = parse_instance_bytes(b'{"a": NaN, "b": [1, Infinity, -Infinity]}')
    assert tree == {"a": REFUSED, "b": [JsonNumber("1"), REFUSED, REFUSED]}
    assert [path for path, _ in tree.problems] == ["$.a", "$.b[1]", "$.b[2]"]
    assert tree.problems[0].message == 'NaN is not a number: write an exact number such as 0.5 or "1/3"'


def test_lone_surrogates_are_refused_in_names_and_values() -> None:
    tree = parse_instance_bytes(b'{"a": "x\\ud800", "\\udc00": 1, "good": "\\ud83d\\ude00"}')
    assert tree["a"] is REFUSED
    assert tree["good"] == "\U0001f600"
    assert [path for path, _ in tree.problems] == ["$.a", '$["\\udc00"]']
    assert all("lone surrogate" in message for _, message in tree.problems)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
def test_nesting_is_allowed_to_the_stated_depth(depth: int) -> None:
    lists = depth - 1
    problems = problems_of(b'{"a":' + b"[" * lists + b"]" * lists + b"}")
    assert len(problems) == (depth > MAX_DEPTH)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match=r"absent\.json: 1 problem\n  \$: cannot be read \(No such file"):
        read_instance_file(tmp_path / "absent.json")


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match=r"\$: is a directory: give the path of an instance file inside it"):
        read_instance_file(tmp_path)


def test_unreadable_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "secret.json"
    file.write_text("{}")

    def deny(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", deny)
    with pytest.raises(InstanceError, match=r"\$: cannot be read \(Permission denied\): "):
        read_instance_file(file)


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (loop, tmp_path / ("x" * 5_000), tmp_path / "a\0b"):
        with pytest.raises(InstanceError) as caught:
            read_instance_file(path)
        assert len(str(caught.value).splitlines()) == 2


def test_a_device_is_not_read() -> None:
    with pytest.raises(InstanceError, match="is not a regular file"):
        read_instance_file("/dev/zero")


def test_the_error_shows_every_problem_on_a_line_of_its_own() -> None:
    problems = [InputProblem("$.a", "first"), InputProblem("$.b", "second")]
    assert str(InstanceError(problems, "instance.json")) == "instance.json: 2 problems\n  $.a: first\n  $.b: second"
    assert str(InstanceError(problems[:1], "a\nb\x1b.json")) == "a\\nb\\x1b.json: 1 problem\n  $.a: first"


def test_a_flood_of_problems_is_cut_and_counted() -> None:
    problems = [InputProblem(f"$.x[{i}]", "wrong") for i in range(12_345)]
    lines = str(InstanceError(problems, "f")).splitlines()
    assert lines[0] == "f: 12,345 problems"
    assert len(lines) == MAX_PROBLEMS_SHOWN + 2
    assert lines[-1] == f"  and {12_345 - MAX_PROBLEMS_SHOWN:,} more"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("q1", "$.q1"),
        ("is-setosa", '$["is-setosa"]'),
        ("", '$[""]'),
        ('a"b\\', '$["a\\"b\\\\"]'),
        ("größe", '$["größe"]'),
        ("a\nb", '$["a\\nb"]'),
        ("9", '$["9"]'),
        ("x" * 61, '$["' + "x" * 60 + '…" (61 characters)]'),
    ],
)
def test_paths(name: str, path: str) -> None:
    assert member_path("$", name) == path


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (JsonNumber("0.10"), "0.10"),
        (JsonNumber("9" * 100), "9" * 60 + "… (100 characters)"),
        ("3/2", '"3/2"'),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        ([], "a list"),
        ({}, "an object"),
    ],
)
def test_values_in_messages(value: JsonValue, text: str) -> None:
    assert shown(value) == text


@given(st.text())
@example("\x1b[2J\u202e\r\n\u2028\ud800")
@example("\\" * 61)
def test_messages_are_one_printable_line(text: str) -> None:
    assert printable(text).isprintable()
    assert quoted(text).isprintable()
    assert len(quoted(text).splitlines()) == 1
