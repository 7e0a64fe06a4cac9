"""Row statuses, suggestions, flags, drift, what Lean wrote."""

from pathlib import Path

import pytest
from lean_projects import audited, rows, write_project

from lean_bridge.audit import CLEAN, OPEN, PROBLEMS
from lean_bridge.crosswalk import fingerprint
from lean_bridge.imports import reachable_files, root_modules
from lean_bridge.lean_output import read_axioms, read_names
from lean_bridge.maps.entry import ConstantClaim, Entry, Symbol
from lean_bridge.near import NearNames

SOURCE = """\
namespace A.B
theorem found : T := x
theorem Renamed_thm : T := x
def extendedName : N := x
@[to_additive] theorem mul_x : T := x
@[simps] def e : N := x
@[ext] structure S where
  f : N
private theorem hidden : T := x
alias other := found
theorem twice : T := x
instance : Inv (Set N) := x
end A.B
namespace C
theorem twice : T := x
end C
"""


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("A.B.found", "found"),
        ("_root_.A.B.found", "found"),
        ("found", "via suffix"),
        ("B.found", "via suffix"),
        ("A.B.other", "via alias"),
        ("A.B.S.f", "found"),
        ("A.B.hidden", "found"),
        ("A.B.add_x", "generated (derived)"),
        ("add_x", "generated (derived)"),
        ("A.B.e_apply", "generated"),
        ("A.B.S.ext", "generated (derived)"),
        ("A.B.S.casesOn", "generated"),
        ("A.B.instInvSet", "anonymous instance"),
        ("A.B.instNegSet", "missing"),
        ("twice", "ambiguous"),
        ("A.B.renamed_thm", "renamed"),
        ("A.B.extended", "renamed"),
        ("A.B.fund", "renamed"),
        ("zzz", "missing"),
        ("???", "not a name"),
        ("TODO", "not a name"),
        ("Tests/SampCert.dfy", "not a name"),
    ],
)
def test_status(tmp_path: Path, name: str, status: str) -> None:
    (row,) = rows(tmp_path, {"X.lean": SOURCE}, name)
    assert row.status == status


@pytest.mark.parametrize(
    ("name", "first"),
    [("renamed_thm", "A.B.Renamed_thm"), ("extended", "A.B.extendedName"), ("fund", "A.B.found")],
)
def test_suggestions_come_in_a_fixed_order(tmp_path: Path, name: str, first: str) -> None:
    (row,) = rows(tmp_path, {"X.lean": SOURCE}, name)
    assert row.suggestions[0] == first
    assert len(row.suggestions) <= 3


def test_near_names_agree_with_the_plain_definition() -> None:
    from difflib import SequenceMatcher

    lasts = ["alpha_beta", "alpha_bet", "alphaBeta", "gamma", "alpha_beta_gamma", "beta_alpha", "Alpha_Beta"]
    near = NearNames([("N", last) for last in lasts])
    shown = near.near(("alpha_betta",))
    similar = [last for last in lasts if SequenceMatcher(None, last, "alpha_betta").ratio() >= 0.75]
    assert shown
    assert {name.split(".")[1] for name in shown} <= set(similar)


def test_the_file_column_settles_a_suffix(tmp_path: Path) -> None:
    files = {
        "P/A.lean": "namespace A\ntheorem t : T := x\nend A\n",
        "P/B.lean": "namespace B\ntheorem t : T := x\nend B\n",
    }
    result = audited(tmp_path, files, [Entry("i", ("t",), "m", 1, file="P/B.lean")])
    assert [(row.status, row.sites[0].name) for row in result.rows] == [("via suffix", "B.t")]


def test_a_private_twin_in_another_file_is_no_ambiguity(tmp_path: Path) -> None:
    files = {"A.lean": "theorem t : T := x", "B.lean": "private theorem t : T := x"}
    (row,) = rows(tmp_path, files, "t")
    assert (row.status, row.sites[0].file, row.others[0].file) == ("found", "A.lean", "B.lean")


def test_kind_mismatch_shared_and_misplaced_declarations_are_noted(tmp_path: Path) -> None:
    entries = [
        Entry("lemma-1", ("d",), "m", 1, kind="lemma"),
        Entry("def-2", ("t",), "m", 2, kind="definition"),
        Entry("x", ("t",), "m", 3, file="Other.lean"),
    ]
    lemma, definition, other = audited(tmp_path, {"X.lean": "def d : N := x\ntheorem t : T := x"}, entries).rows
    assert lemma.notes == ("the paper has a lemma, Lean a def",)
    assert definition.notes == ("the paper has a definition, Lean a theorem",)
    assert definition.remarks == ("also claimed by x",)
    assert other.notes == ("the map says Other.lean",)


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("theorem t : T := x", CLEAN),
        ("theorem t : T := sorry", PROBLEMS),
        ("axiom t : T", PROBLEMS),
        ("theorem t : T := by native_decide", PROBLEMS),
        ("theorem u : T := x", PROBLEMS),
        ("@[implemented_by f] def t : T := x", OPEN),
        ("unsafe def t : T := x", OPEN),
        ("namespace A\ntheorem t : T := x\nend A\nnamespace B\ntheorem t : T := x\nend B", OPEN),
        ("@[to_additive t] theorem m : T := x", OPEN),
    ],
)
def test_exit_status(tmp_path: Path, source: str, status: int) -> None:
    assert audited(tmp_path, {"X.lean": source}, [Entry("i", ("t",), "m", 1)]).exit_status == status


def test_nothing_mapped_is_never_a_pass(tmp_path: Path) -> None:
    assert audited(tmp_path, {"X.lean": "theorem t : T := x"}, []).exit_status == OPEN


def test_axioms_that_lean_printed(tmp_path: Path) -> None:
    text = (
        "x.lean:1:0: info: 't' depends on axioms: [propext,\n Classical.choice]\n"
        "'u' does not depend on any axioms\n'v'' depends on axioms: [sorryAx]\n"
    )
    axioms = read_axioms(Path("axioms.txt"), text)
    source = {"X.lean": "theorem t : T := x\ntheorem u : T := x\ntheorem v' : T := x\ntheorem w : T := x"}
    t, u, v, w = rows(tmp_path, source, "t", "u", "v'", "w", axioms=axioms)
    assert (t.axioms, t.forbidden) == (("Classical.choice", "propext"), ())
    assert (u.axioms, v.forbidden, w.axioms) == ((), ("sorryAx",), None)
    assert w.notes == ("not among the declarations whose axioms Lean printed",)
    (t,) = rows(tmp_path, source, "t", axioms=axioms, allowed=("propext",))
    assert t.forbidden == ("Classical.choice",)
    assert read_axioms(Path("a"), "nothing").problems


def test_names_that_lean_knows(tmp_path: Path) -> None:
    names = read_names(Path("env.txt"), "t\nNat.add_comm\n# comment\n")
    source = {"X.lean": "theorem t : T := x\ntheorem u : T := x"}
    t, u, external, missing = rows(tmp_path, source, "t", "u", "Nat.add_comm", "zzz", names=names)
    assert (t.notes, u.notes) == ((), ("Lean's own list of names does not have it",))
    assert (external.status, missing.status) == ("external", "missing")
    data = '{"declarations": {"Nat.add_comm": {"docLink": "./Mathlib/Nat.html#Nat.add_comm"}}}'
    found = read_names(Path("d.bmp"), data)
    (external,) = rows(tmp_path, source, "Nat.add_comm", names=found)
    assert external.reason == "in Mathlib.Nat"
    for text in ("", "???", "{}", "{", "[" * 10_000):
        assert read_names(Path("e"), text).problems


def test_a_changed_statement_is_noticed_and_a_changed_proof_is_not(tmp_path: Path) -> None:
    (before,) = rows(tmp_path, {"X.lean": "theorem t : T := x"}, "t")
    assert before.declaration is not None
    previous = {"t": fingerprint(before.declaration)}
    for text, changed in (
        ("theorem t : T := by simp", False),
        ("theorem t : U := x", True),
        ("variable (n : N)\ntheorem t : T := x", True),
    ):
        (row,) = rows(tmp_path, {"X.lean": text}, "t", previous=previous)
        assert row.changed == changed


SYMBOLS = (Symbol("n", ("n",), "nat", True), Symbol("x", ("x",), "real", True))


@pytest.mark.parametrize(
    ("source", "claim", "verdict"),
    [
        ("theorem t : f x ≤ 2 * x := p", ConstantClaim("2", "C*x"), "equal"),
        ("theorem t : f x ≤ 3 * x := p", ConstantClaim("2", "C*x"), "different"),
        ("theorem t : f x ≤ ∑ i, x := p", ConstantClaim("2", "C*x"), "outside"),
        ("theorem t : 2 * x ≤ x ∧ f x ≤ x := p", ConstantClaim("1", "C*x"), "undecided"),
        ("theorem t : f x ≤ 2 * x ∧ f x ≤ x := p", ConstantClaim("2", "C*x", "≤", 1), "equal"),
        ("theorem t : f x ≤ 2 * x ∧ f x ≤ x := p", ConstantClaim("2", "C*x", "≤", 3), "outside"),
        ("theorem t : f x ≤ ∑ i, x := p", ConstantClaim("2", "C*x", None, 1), "outside"),
        ("theorem t : f x ≤ 2 * x ∧ f x = x := p", ConstantClaim("1", "C*x", "="), "equal"),
        ("theorem t : 2 * x ≥ f x := p", ConstantClaim("2", "C*x"), "equal"),
        ("theorem t : 2 * x ≤ f x := p", ConstantClaim("2", "C*x", side="left"), "equal"),
        ("theorem t (h : f x ≤ 3 * x) : f x ≤ 2 * x := p", ConstantClaim("2", "C*x"), "equal"),
        ("theorem t (n : ℕ) (x : ℝ) : f x ≤ 2 * x := p", ConstantClaim("2", "C*x"), "equal"),
        ("theorem t (x : ℝ≥0) : f x ≤ 2 * x := p", ConstantClaim("2", "C*x"), "outside"),
        ("theorem t (n : ℕ+) : f x ≤ 2 * x := p", ConstantClaim("2", "C*x"), "outside"),
        ("variable {x y : NNReal}\ntheorem t : f x ≤ 2 * x := p", ConstantClaim("2", "C*x"), "outside"),
        ("theorem t : ∀ x : ℕ, f x ≤ 2 * x := p", ConstantClaim("2", "C*x"), "outside"),
        ("def K : ℝ := 2\ntheorem t : f x ≤ K * x := p", ConstantClaim("2", "C*x"), "equal"),
        ("def K : ℝ := 2\ntheorem t (K : ℝ) : f x ≤ K * x := p", ConstantClaim("2", "C*x"), "outside"),
        ("def K : ℝ := 2\nvariable (K : ℝ)\ntheorem t : f x ≤ K * x := p", ConstantClaim("2", "C*x"), "outside"),
        ("def K : ℝ := 2\ntheorem t : ∃ K, f x ≤ K * x := p", ConstantClaim("2", "C*x"), "outside"),
        ("def K {y : ℝ} : ℝ := 2\ntheorem t : f x ≤ K * x := p", ConstantClaim("2", "C*x"), "outside"),
        ("opaque K : ℝ\ntheorem t : f x ≤ K * x := p", ConstantClaim("2", "C*x"), "outside"),
        (
            "def A.K : ℝ := 2\ndef K : ℝ := 3\nopen A\ntheorem t : f x ≤ K * x := p",
            ConstantClaim("2", "C*x"),
            "outside",
        ),
        (
            "namespace A\ndef K : ℝ := 2\nend A\nopen A\ntheorem t : f x ≤ K * x := p",
            ConstantClaim("2", "C*x"),
            "equal",
        ),
        ("open Real\ntheorem t : f x ≤ exp 1 * x := p", ConstantClaim("exp(1)", "C*x"), "equal"),
        ("open Real NNReal\ntheorem t : f x ≤ exp 1 * x := p", ConstantClaim("exp(1)", "C*x"), "outside"),
        ("def P.exp : ℝ := 2\nopen Real\ntheorem t : f x ≤ exp 1 * x := p", ConstantClaim("exp(1)", "C*x"), "outside"),
        ('local infix:70 " * " => g\ntheorem t : f x ≤ 2 * x := p', ConstantClaim("2", "C*x"), "outside"),
        ("theorem t : f x ≤ 2 * x := p", ConstantClaim("no such id", "C*x"), "outside"),
        ("theorem t : f x ≤ 2 * x := p", ConstantClaim("2", "C*y"), "undecided"),
        ("theorem t : f x ≤ 2 * n / 3 := p", ConstantClaim("2/3", "C*n"), "outside"),
    ],
)
def test_constants_are_compared_where_they_stand(
    tmp_path: Path, source: str, claim: ConstantClaim, verdict: str
) -> None:
    entry = Entry("i", ("t",), "m", 1, symbols=SYMBOLS, constant=claim)
    (row,) = audited(tmp_path, {"X.lean": source}, [entry]).rows
    assert row.constant is not None
    assert row.constant.verdict == verdict, row.constant.reason


def test_roots_come_from_the_lakefile(tmp_path: Path) -> None:
    files = {
        "lakefile.toml": '[[lean_lib]]\nname = "Lib"\nglobs=["Lib", "Extra.*"]\n[[lean_exe]]\nname="r"\nroot = "Main"',
        "Lib.lean": "import Lib.A\n",
        "Lib/A.lean": "theorem a : T := x",
        "Extra/B.lean": "public import Lib.A",
        "Main.lean": "import Std",
        "Old.lean": "theorem a : T := x",
    }
    project = write_project(tmp_path, files)
    roots = root_modules(tmp_path)
    assert roots == ["Lib", "Extra.*", "Main"]
    assert reachable_files(project.files, roots) == {"Lib.lean", "Lib/A.lean", "Extra/B.lean", "Main.lean"}
    assert reachable_files(project.files, ["Nowhere"]) is None
    (tmp_path / "lakefile.toml").unlink()
    (tmp_path / "lakefile.lean").write_text(
        '-- lean_lib No\nlean_lib «Lib» where\n  x := y\nlean_exe run where\n  root := `Main\nlean_lib "Q"\n',
        encoding="utf-8",
    )
    assert root_modules(tmp_path) == ["Lib", "run", "Q", "Main"]
