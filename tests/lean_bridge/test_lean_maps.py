"""Maps: the project's own, blueprint LaTeX, attributes, Markdown tables, citations."""

from pathlib import Path

import pytest
from lean_projects import write_project

from lean_bridge.discover import discover_maps, read_maps
from lean_bridge.maps.attribute_map import read_attributes
from lean_bridge.maps.blueprint import read_blueprint
from lean_bridge.maps.citations import citations
from lean_bridge.maps.entry import ConstantClaim, Symbol, item_kind
from lean_bridge.maps.markdown_table import read_markdown
from lean_bridge.maps.toml_map import read_toml_map
from lean_bridge.reader import read_source

TOML = """
[item."lemma-5.1"]
lean = ["A.b", "A.c"]
note = "integer radius"
status = "specialised"
[item."thm-1.1"]
lean = ["main"]
[item."thm-1.1".symbols]
T = { lean = ["Fintype.card D"], type = "nat", positive = true }
[item."thm-1.1".constant]
ledger = "C"
relation = "≤"
occurrence = 1
"""


def test_own_map() -> None:
    found = read_toml_map(Path("crosswalk.toml"), TOML)
    assert not found.problems
    lemma, theorem = found.entries
    assert (lemma.item, lemma.names, lemma.status, lemma.kind, lemma.line) == (
        *("lemma-5.1", ("A.b", "A.c"), "specialised", "lemma"),
        2,
    )
    assert theorem.symbols == (Symbol("T", ("Fintype.card D",), "nat", True),)
    assert theorem.constant == ConstantClaim("C", None, "≤", 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[item.a]\nlean = 'x'", '$.item."a".lean: must be a list'),
        ("[item.a]\nlean = ['x']\nproof = 1", "unknown field"),
        ("[item.a]\nnote = 'x'", "lean is missing"),
        ("[item.a]\nlean = ['x']\nstatus = 'proved'", "must be one of verbatim"),
        ("[item.a]\nlean = ['x']\n[item.a.constant]\nrelation = '≤'", "ledger is missing"),
        ("[item.a]\nlean = ['x']\n[item.a.constant]\nledger = 'C'\noccurrence = 0", "whole number"),
        ("[item.a]\nlean = ['x']\n[item.a.symbols]\n'α' = { lean = ['a'] }", "named by letters"),
        ("[item.a]\nlean = ['x']\n[item.a.symbols]\nx = { type = 'nat' }", "lean is missing"),
        ("[[command]]\nword = 'x'\nargument = '('\ndeclares = 'y'", "regular expression"),
        ("[[command]]\nword = 'x'", "needs word, argument and declares"),
        ("item = 3", "must be tables"),
        ("[item]\na = 3", "must be a table"),
        ("[item.a\n", "line 1"),
    ],
)
def test_what_is_wrong_with_a_map_is_said_with_its_place(text: str, problem: str) -> None:
    found = read_toml_map(Path("crosswalk.toml"), text)
    assert any(problem in line and line.startswith("crosswalk.toml: ") for line in found.problems)


def test_all_problems_are_reported_at_once() -> None:
    found = read_toml_map(Path("m.toml"), "x = 1\n[item.a]\nlean = 1\nstatus = 2\n")
    assert len(found.problems) == 3


BLUEPRINT = r"""
\begin{lemma}[Szemer\'edi, 100\%]\label{lem:a} % \lean{commented}
  \lean{A.b,
        c\_d}
  \leanok
\end{lemma}
\begin{theorem}
  \lean{first} \label{thm:late}
  \begin{equation}\label{eq:inner} x \end{equation}
\end{theorem}
\begin{definition}\lean{???} \mathlibok \end{definition}
\label{loose} \lean{outside}
"""


def test_blueprint() -> None:
    entries = list(read_blueprint("src/a.tex", BLUEPRINT))
    assert [(e.item, e.names, e.kind, e.line, e.external) for e in entries] == [
        ("lem:a", ("A.b", "c_d"), "lemma", 3, False),
        ("thm:late", ("first",), "theorem", 8, False),
        ("definition at src/a.tex:11", ("???",), "definition", 11, True),
        ("loose", ("outside",), None, 12, False),
    ]
    assert entries[0].title == "Szemerédi, 100%"


def test_only_latex_below_blueprint_is_a_map(tmp_path: Path) -> None:
    files = {
        "A.lean": "theorem a : T := x",
        "blueprint/src/a.tex": r"\begin{lemma}\label{l}\lean{a}\end{lemma}",
        "paper/a.tex": r"\begin{lemma}\label{m}\lean{b}\end{lemma}",
        "crosswalk.toml": "[item.own]\nlean = ['a']",
        "map.md": "| Item | Name |\n|---|---|\n| I | `a` |\n",
        "notes.md": "| What | Name |\n|---|---|\n| I | `b` |\n",
    }
    project = write_project(tmp_path, files)
    assert [e.item for e in discover_maps(project).entries] == ["own", "l", "I"]


def test_blueprint_attributes() -> None:
    source = (
        '@[blueprint "thm:a" (title := "T") (statement := /-- x -/)]\ntheorem a : T := x\n'
        '@[blueprint (latexEnv := "lemma")]\ntheorem b : T := x\ntheorem c : T := x\n'
    )
    entries = list(read_attributes(read_source("A.lean", source).declarations))
    assert [(e.item, e.names, e.kind, e.title) for e in entries] == [
        ("thm:a", ("a",), "theorem", "T"),
        ("b", ("b",), "lemma", None),
    ]


TABLE = """
| §  | Kind       | Item from paper | File            | Name      | Note |
|----|:-----------|-----------------|-----------------|-----------|------|
| 2  | Definition | Query           | [S/Generic.lean] | `Query`   |      |
|    | Lemma      | `zCDP` \\| pure  | [S/Z.lean](x)   | `a `, `b` | L 1  |
|    | Folder     | Samplers        | [S/]            |           |      |
| A  | File       |                 | [T.lean]        | `T/S.dfy` |      |

| Item | Size |
|------|------|
| x    | `y`  |
"""


def test_markdown_table_with_the_quirks_of_sampcert() -> None:
    entries = list(read_markdown("map.md", TABLE))
    assert [(e.item, e.names, e.kind, e.file, e.note) for e in entries] == [
        ("§2, Query", ("Query",), "definition", "S/Generic.lean", None),
        ("§2, zCDP | pure", ("a", "b"), "lemma", "S/Z.lean", "L 1"),
        ("§A, File", ("T/S.dfy",), None, "T.lean", None),
    ]


def test_citations_are_hints() -> None:
    source = (
        "/-- Lemma 5.1 and Theorem~1.1, see Eq. (6.2); again Lemma 5.1; Lemma A.2 -/\ntheorem a : T := x\n"
        "theorem b : T := x\n"
    )
    found = [(c.item, c.declaration.name) for c in citations(read_source("A.lean", source).declarations)]
    assert found == [("lemma-5.1", "a"), ("thm-1.1", "a"), ("eq-6.2", "a"), ("lemma-a.2", "a")]


@pytest.mark.parametrize(
    ("item", "kind"), [("lemma-5.1", "lemma"), ("thm:x", "theorem"), ("eq-6.2", None), ("def. 1", "definition")]
)
def test_kinds(item: str, kind: str | None) -> None:
    assert item_kind(item) == kind


def test_named_maps_must_hold_something(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("nothing", encoding="utf-8")
    (tmp_path / "a.txt").write_text("nothing", encoding="utf-8")
    (tmp_path / "a.toml").write_bytes(b"\xff")
    found = read_maps([tmp_path / name for name in ("a.md", "a.txt", "a.toml", "absent.toml")])
    assert len(found.problems) == 4
