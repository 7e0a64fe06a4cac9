"""What a declaration carries: flags, hashes, context, members, generated names."""

import pytest

from lean_bridge.additive import additive_name
from lean_bridge.model import Declaration, SourceFile
from lean_bridge.names import parse_name, show_name
from lean_bridge.reader import read_source


def read(source: str) -> SourceFile:
    return read_source("X.lean", source)


def one(source: str, name: str = "a") -> Declaration:
    (found,) = [d for d in read(source).declarations if d.name == name]
    return found


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        ("theorem a : T := (sorry : T)", ["sorry"]),
        ("theorem a : T := by\n  exact sorryAx _ true", ["sorry"]),
        ("theorem a : T := by\nsimp\nsorry", ["sorry"]),
        ("theorem a : T := by\n  open Foo in\n  sorry", ["sorry"]),
        ("theorem a : T := by\n  admit", ["admit"]),
        ("theorem a : T := by decide +native", ["native_decide"]),
        ("theorem a : T := by bv_decide", ["bv_decide"]),
        ("theorem a : T := f (stop := 3) s.stop", []),
        ("theorem a : T := hsorry -- sorry\n", []),
        ('theorem a : T := f "sorry"', []),
        ("set_option debug.skipKernelTC true\ntheorem a : T := x", ["skipKernelTC"]),
        ("set_option debug.skipKernelTC true in\ntheorem a : T := x", ["skipKernelTC"]),
        ("section\nset_option debug.skipKernelTC true\nend\ntheorem a : T := x", []),
        ('local infix:50 " ≤ " => f\ntheorem a : x ≤ y := z', ["shadowed-notation"]),
        ('notation3 "‖" f "‖_[" p "]" => g f p\ntheorem a : T := z', []),
        ("partial def a : T := x", ["partial"]),
        ("theorem a : T := x\nmk_thm sorry\n", ["sorry"]),
    ],
)
def test_own_text_flags(source: str, flags: list[str]) -> None:
    assert list(one(source).flags) == flags


def test_a_macro_that_expands_to_sorry_is_reported() -> None:
    found = read('macro "todo" : tactic => `(tactic| sorry)\ntheorem a : T := by todo\n')
    assert [d.at for d in found.diagnostics] == [(1, 0)]
    assert "sorry" in found.diagnostics[0].message


@pytest.mark.parametrize(
    "source",
    [
        "def x := (foo local\ntheorem a : T := y",
        "def x := (open A in\ntheorem a : T := y",
        "def x := f (set_option b true in\n@[simp]\ntheorem a : T := y",
        "theorem x : T := by\n  exact ⟨f,\ntheorem a : T := y",
    ],
)
def test_a_declaration_in_column_0_is_never_lost(source: str) -> None:
    assert one(source).keyword[1] == 0


def test_an_attribute_set_later_is_reported() -> None:
    found = read("def a : T := x\nattribute [implemented_by b] a\nattribute [simp] a\n")
    assert [d.at for d in found.diagnostics] == [(2, 0)]


def test_theorem_hash_is_of_the_statement_and_definition_hash_of_everything() -> None:
    assert one("theorem a : T := x").digest == one("theorem  a :\n  T := by /- c -/ simp").digest
    assert one("theorem a : T := x").digest != one("theorem a : U := x").digest
    assert one("def a : T := x").digest != one("def a : T := y").digest
    assert one("structure a where\n  x : N").digest != one("structure a where\n  x : M").digest


def test_context_hash_sees_variables_and_opens_and_ends_with_their_section() -> None:
    plain = one("theorem a : T := x").context
    assert one("variable (n : N)\ntheorem a : T := x").context != plain
    assert one("open Foo\ntheorem a : T := x").context != plain
    assert one("open Foo in\ntheorem a : T := x").context != plain
    assert one("section\nvariable (n : N)\nend\ntheorem a : T := x").context == plain
    assert one("attribute [simp] b\ntheorem a : T := x").context == plain


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("open A B", ("A", "B")),
        ("open scoped A", ("A*",)),
        ("open A (x y)", ("A*",)),
        ("open A hiding x", ("A*",)),
    ],
)
def test_opened_namespaces(text: str, opens: tuple[str, ...]) -> None:
    assert one(f"{text}\ntheorem a : T := x").opens == opens


@pytest.mark.parametrize(
    ("source", "type_"),
    [
        ("theorem a : |x| = |y| := z", "|x| = |y|"),
        ("theorem a : (fun x => x) = f := z", "(fun x => x) = f"),
        ("theorem a : f = fun x => |x| := z", "f = fun x => |x|"),
        ("theorem a : match x with | 0 => T | _ => U := z", "match x with | 0 => T | _ => U"),
        ("theorem a : N → N\n  | 0 => 1\n  | n => n", "N → N"),
        ("theorem a : ∑ x ∈ s with p x, f x = 0 := z", "∑ x ∈ s with p x, f x = 0"),
        ("theorem a (h : p := by simp) : T := z", "T"),
        ("theorem a : letI := i; T := z", "letI := i; T"),
        ("instance a : C N where\n  x := 1", "C N"),
        ('theorem a : s = "x" := z', 's = "x"'),
    ],
)
def test_where_a_type_ends(source: str, type_: str) -> None:
    assert one(source).type == type_


def members(source: str) -> list[tuple[str, str]]:
    return [(d.name, d.kind) for d in read(source).declarations if d.parent]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("structure S where\n  x : N := 0\n  y := 1\n", [("S.x", "field"), ("S.mk", "constructor")]),
        ("structure S where mk :: (x : N)", [("S.mk", "constructor"), ("S.x", "field")]),
        ("structure S where\n  (f (x : N) : N)\n", [("S.f", "field"), ("S.mk", "constructor")]),
        ("class S extends (A.B x), C y : Prop", [("S.toB", "parent"), ("S.toC", "parent"), ("S.mk", "constructor")]),
        (
            "class S : Prop extends (f x).P where\n  x : N",
            [("S.toP", "parent"), ("S.x", "field"), ("S.mk", "constructor")],
        ),
        ("class S extends Module ℝ≥0 E", [("S.toModule", "parent"), ("S.mk", "constructor")]),
        ("structure S where\n  x : N\n  deriving Repr\n", [("S.x", "field"), ("S.mk", "constructor")]),
        (
            "structure S where\n  /-- d -/\n  x : N\n  @[simp] y : N\n",
            [("S.x", "field"), ("S.y", "field"), ("S.mk", "constructor")],
        ),
        ("inductive I\n  | a : 1 < |x| → I\n  | b\nderiving Repr", [("I.a", "constructor"), ("I.b", "constructor")]),
        ("inductive I where | a : I | b : I", [("I.a", "constructor"), ("I.b", "constructor")]),
        ("inductive I\n/-- d -/\n| a : I\n", [("I.a", "constructor")]),
        ("inductive I\n  | a :\n    |x| < 1 → I\n", [("I.a", "constructor")]),
        ("def f := g where\n  g : N := 1\n  h (x : N) : N := x\n", [("f.g", "local"), ("f.h", "local")]),
        ("instance : C N where\n  x := 1\n", []),
    ],
)
def test_members(source: str, found: list[tuple[str, str]]) -> None:
    assert [m for m in members(source) if m[0]] == found


def test_a_docstring_above_a_constructor_is_its_own() -> None:
    assert one("inductive I\n  /-- d -/\n  | a : I\n", "I.a").doc == "d"


@pytest.mark.parametrize(
    ("source", "generated"),
    [
        ("@[to_additive] theorem mul_x : T := y", ["add_x"]),
        ("@[to_additive A.b] theorem N.M.mul_x : T := y", ["N.A.b"]),
        ("@[to_additive existing] theorem mul_x : T := y", []),
        ("@[to_additive (attr := simp) foo] theorem mul_x : T := y", ["foo"]),
        ("@[ext] theorem S.ext : T := y", ["S.ext_iff"]),
        ("@[ext (iff := false)] theorem S.ext : T := y", []),
        ("@[mk_iff] structure Foo : Prop", ["foo_iff"]),
        ("@[simps apply symm_apply] def e : T := y", ["e_apply", "e_symm_apply"]),
        ("@[reassoc] lemma l : T := y", ["l_assoc"]),
        ("@[simps] def e : T := y", []),
    ],
)
def test_generated_names_are_candidates(source: str, generated: list[str]) -> None:
    found = [d for d in read(source).declarations if d.kind == "generated"]
    assert [d.name for d in found] == generated
    assert all(d.flags == ("candidate",) for d in found)


@pytest.mark.parametrize(
    ("multiplicative", "additive"),
    [
        ("mul_one", "add_zero"),
        ("CommMonoid", "AddCommMonoid"),
        ("SMulCommClass", "VAddCommClass"),
        ("mulSupport", "support"),
        ("leftCancelMonoid", "addLeftCancelMonoid"),
        ("mul_inv_rev'", "add_neg_rev'"),
        ("foo", "foo"),
        ("HPow", "HSmul"),
    ],
)
def test_additive_names(multiplicative: str, additive: str) -> None:
    assert additive_name(multiplicative) == additive


def test_exit_ends_the_file_and_an_endless_namespace_is_not_guessed() -> None:
    found = read("theorem a : T := x\n#exit\ntheorem b : T := x\n")
    assert [d.name for d in found.declarations] == ["a"]
    assert found.unparsed[0].reason == "text after #exit"
    deep = read("namespace " + ".".join(["A" * 50] * 20) + "\ntheorem a : T := x\n")
    assert not deep.declarations
    assert len(deep.unparsed) == 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [("«a»", "a"), ("«a.b».c", "«a.b».c"), ("a.«x y»", "a.«x y»"), ("α₁'", "α₁'")],
)
def test_names_are_shown_as_lean_prints_them(text: str, shown: str) -> None:
    name = parse_name(text)
    assert name is not None
    assert show_name(name) == shown


@pytest.mark.parametrize("text", ["???", "", "Tests/SampCert.dfy", "a b", "1a", "a..b", "λx", "a."])
def test_what_is_not_a_name(text: str) -> None:
    assert parse_name(text) is None
