"""The words that begin, lead or continue a Lean command."""

import re

from lean_bridge.names import COMPONENT, LETTER, REST


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Word -> terminal of lean.lark. Everything here may declare names or open a scope.
DECLARING = {
    "theorem": "THEOREM",
    "lemma": "THEOREM",
    "def": "DEF",
    "abbrev": "DEF",
    "irreducible_def": "DEF",
    "instance": "INSTANCE",
    "example": "EXAMPLE",
    "axiom": "AXIOM",
    "opaque": "OPAQUE",
    "structure": "STRUCTURE",
    "class": "STRUCTURE",
    "inductive": "INDUCTIVE",
    "coinductive": "INDUCTIVE",
    "alias": "ALIAS",
    "export": "EXPORT",
    "initialize": "INITIALIZE",
    "builtin_initialize": "INITIALIZE",
}
SCOPING = {"namespace": "NAMESPACE", "section": "SECTION", "end": "END", "mutual": "MUTUAL"}
CONTEXT = frozenset({"open", "variable", "universe", "include", "omit", "set_option", "attribute"})
NOTATION = _words("""
    notation notation3 infix infixl infixr prefix postfix macro macro_rules syntax elab elab_rules
    declare_syntax_cat binder_predicate app_unexpander app_delab delab unif_hint
""")
SILENT = _words("""
    import prelude module run_cmd run_elab run_meta add_decl_doc initialize_simps_projections
    register_simp_attr register_option register_builtin_option register_label_attr register_tag_attr
    register_parser_alias register_hint register_linter_set declare_aesop_rule_sets declare_simp_like_tactic
    declare_config_elab declare_command_config_elab library_note suppress_compilation
    unsuppress_compilation count_heartbeats assert_not_exists assert_exists assert_not_imported
    assert_no_cyclic compile_inductive compile_def simproc simproc_decl dsimproc dsimproc_decl
    builtin_simproc builtin_dsimproc proof_wanted theorem_wanted def_wanted recall unseal seal
    grind_pattern insert_to_additive_translation gen_injective_theorems reset_grind_attrs
    deprecated_module deprecate add_aesop_rules erase_aesop_rules mk_iff_of_inductive_prop
    extend_docs show_panel_widgets show_term_elab docs_to_verso
    package require lean_lib lean_exe extern_lib target script input_file input_dir post_update
    module_facet library_facet package_facet
""")
MODIFIERS = _words("private protected public noncomputable computable unsafe partial nonrec meta local scoped")
# A line that begins with one of these goes on with the command above it.
CONTINUING = _words("""
    where termination_by decreasing_by decreasing_with deriving extends with by from then else do fun
    at using calc have let show suffices obtain match if return
""")
# After these words a term is not finished: the next line belongs to it, wherever it starts.
UNFINISHED = _words("""
    by do then else from fun at with using in where let have show match if return calc := =>
    exact apply refine rw simp intro
""")

# In column 0 anything may begin a command; elsewhere only these words do.
IN_COLUMN_0 = re.compile(rf"^(?:/-[-!]|@\[|#?[{LETTER}][{REST}]*|«)", re.MULTILINE)
ELSEWHERE = frozenset({*DECLARING, *SCOPING, *CONTEXT, *MODIFIERS, *NOTATION, "deriving"})
WORD = re.compile(rf"#?[{LETTER}][{REST}]*")
# What must follow a keyword outside column 0: a name, a binder or a colon; for a scope, or the line's end.
FOLLOWS = re.compile(rf"\s*(?:{COMPONENT}|:(?!=)|[([{{⟨⦃])")
FOLLOWS_SCOPE = re.compile(rf"[ \t\r]*(?:{COMPONENT}|$)", re.MULTILINE)
