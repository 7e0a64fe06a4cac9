"""Every hazard of Lean source has its one right answer, including what must be absent."""

import json
from pathlib import Path
from typing import Any

import pytest
from lean_projects import rows, write_project

from lean_bridge.imports import reachable_files
from lean_bridge.maps.toml_map import read_toml_map
from lean_bridge.model import SourceFile
from lean_bridge.names import parse_name
from lean_bridge.reader import read_source

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data/hazards.json").read_text(encoding="utf-8"))
SNIPPETS = [case for case in CASES if "files" not in case]
IDS = [f"{case['id']}{case['case']}" for case in SNIPPETS]


def test_all_cases_are_here() -> None:
    assert len(CASES) == 71
    assert len(SNIPPETS) == 70


@pytest.mark.parametrize("case", SNIPPETS, ids=IDS)
def test_declarations_are_exactly_the_expected_ones(case: dict[str, Any]) -> None:
    found = read_source("Snippet.lean", case["source"])
    got = sorted((d.name, d.kind, d.keyword[0], d.at[0], list(d.flags)) for d in found.declarations)
    expected = sorted((e["name"], e["kind"], e["line"], e["name_line"], sorted(e["flags"])) for e in case["expect"])
    assert got == expected


@pytest.mark.parametrize("case", SNIPPETS, ids=IDS)
def test_absent_names_are_absent(case: dict[str, Any]) -> None:
    found = read_source("Snippet.lean", case["source"])
    names = {parse_name(d.name) for d in found.declarations}
    assert not names & {parse_name(name) for name in case["absent"]} - {None}
    assert not {d.name for d in found.declarations} & set(case["absent"])


@pytest.mark.parametrize("case", [c for c in SNIPPETS if any(set(e) > {"flags"} for e in c["expect"])])
def test_further_fields(case: dict[str, Any]) -> None:
    found = read_source("Snippet.lean", case["source"])
    for expected in case["expect"]:
        (declaration,) = [d for d in found.declarations if (d.name, d.kind) == (expected["name"], expected["kind"])]
        for field in ("type", "doc", "target"):
            assert getattr(declaration, field) == expected.get(field, getattr(declaration, field))
        assert declaration.keyword[0] == expected.get("source_line", declaration.keyword[0])


def read(source: str) -> SourceFile:
    return read_source("Snippet.lean", source)


def snippet(number: int, letter: str = "a") -> str:
    (case,) = [case for case in CASES if (case["id"], case["case"]) == (number, letter)]
    return str(case["source"])


def test_8_what_cannot_start_a_name_is_unparsed() -> None:
    assert [span.start[0] for span in read(snippet(8)).unparsed] == [9, 10, 11]


def test_18_noncomputable_section_and_20_prefixes_keep_lines() -> None:
    (o2,) = [d for d in read(snippet(20)).declarations if d.name == "o2"]
    assert (o2.doc, o2.attributes, o2.start) == ("d", ("reducible",), (6, 0))


def test_21_what_stands_before_open_in_is_lost() -> None:
    p1, p2 = read(snippet(21)).declarations
    assert (p1.doc, p2.attributes) == (None, ())


def test_24_blueprint_label_is_an_attribute() -> None:
    (q,) = read(snippet(24)).declarations
    assert q.doc is None
    assert q.attributes[0].startswith('blueprint "l"')


def test_34_a_row_for_an_unnamed_instance_names_the_probable_line(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, {"A.lean": snippet(34)}, "instCN")
    assert (row.status, row.sites[0].keyword[0]) == ("anonymous instance", 3)


def test_37_exports_resolve_to_their_target(tmp_path: Path) -> None:
    for name in ("a", "Ex.a"):
        (row,) = rows(tmp_path, {"A.lean": snippet(37)}, name)
        assert (row.status, row.sites[0].name) == ("via export", "Foo.a")


def test_41_protected_at_the_root_is_a_diagnostic() -> None:
    assert [d.at[0] for d in read(snippet(41)).diagnostics] == [1]


def test_42_only_the_reachable_site_counts(tmp_path: Path) -> None:
    (case,) = [case for case in CASES if "files" in case]
    project = write_project(tmp_path, case["files"])
    reachable = reachable_files(project.files, [case["root"]])
    assert reachable is not None
    got = [(d.name, d.kind, d.keyword[0], d.file, d.file in reachable) for d in project.declarations]
    assert got == [(e["name"], e["kind"], e["line"], e["file"], e["reachable"]) for e in case["expect"]]
    (row,) = rows(tmp_path, {}, "dup", roots=("Main.lean",))
    assert (row.status, row.sites[0].file, [site.file for site in row.others]) == (
        "found",
        "Proj/New.lean",
        ["Proj/Old.lean"],
    )
    (row,) = rows(tmp_path, {}, "dup", roots=("Proj/New.lean", "Proj/Old.lean"))
    assert (row.status, len(row.sites)) == ("ambiguous", 2)


def test_43_verso_is_one_counted_region_and_its_names_are_not_missing(tmp_path: Path) -> None:
    found = read(snippet(43))
    assert [(u.start, u.end, u.reason) for u in found.unparsed] == [((1, 0), (7, 3), "text after #doc")]
    files = {"A.lean": snippet(43), "B.lean": "theorem b : T := T.i\n"}
    (row,) = rows(tmp_path, files, "inBlock")
    assert row.status == "unparsed region"
    (row,) = rows(tmp_path, files, "general")
    assert row.status in ("missing", "renamed")


def test_44_custom_commands_may_generate_and_do_where_declared(tmp_path: Path) -> None:
    for name in ("Equation65", "gen"):
        (row,) = rows(tmp_path, {"A.lean": snippet(44)}, name)
        assert row.status == "not in source, may be generated"
    commands = read_toml_map(
        Path("map.toml"), "[[command]]\nword = 'equation'\nargument = '(\\d+)'\ndeclares = 'Equation$1'\n"
    ).commands
    (row,) = rows(tmp_path, {}, "Equation65", commands=commands)
    assert (row.status, row.sites[0].kind, row.sites[0].keyword[0]) == ("found", "custom", 1)


def test_47_the_unbalanced_one_is_flagged_only() -> None:
    c22, c23 = read(snippet(47)).declarations
    assert ("unbalanced" in c22.flags, "unbalanced" in c23.flags) == (True, False)


def test_48_two_unparsed_spans() -> None:
    assert [u.start for u in read(snippet(48)).unparsed] == [(1, 0), (2, 0)]


def test_49_stop_at_top_level_is_unparsed_and_in_a_tactic_block_a_flag() -> None:
    assert [u.start for u in read(snippet(49, "b")).unparsed] == [(2, 0)]
    (a,) = read("theorem a : T := by\n  simp\n  stop\n  simp\n").declarations
    assert a.flags == ("stop",)


def test_51_columns_are_code_points_after_the_byte_order_mark() -> None:
    a, b = read(snippet(51)).declarations
    assert (a.keyword, a.at, b.keyword, b.at) == ((1, 0), (1, 8), (2, 1), (2, 9))


def test_54_the_hash_reaches_the_last_assignment() -> None:
    a, _ = read(snippet(54)).declarations
    other, _ = read(snippet(54).replace("N.z; T :=", "N.z; U :=")).declarations
    assert a.signature == "a : let x := N.z; T"
    assert a.digest != other.digest


def test_58_an_open_comment_is_a_diagnostic() -> None:
    assert [d.at for d in read(snippet(58)).diagnostics] == [(1, 21)]
