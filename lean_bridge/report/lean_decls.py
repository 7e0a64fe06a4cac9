"""The list of names that `lake exe checkdecls` reads: Lean confirms the crosswalk."""

from lean_bridge.audit import Audit


def lean_decls(audit: Audit) -> str:
    """One name per line, each once: full names where the source gives them, else as the map has them."""
    names = []
    for row in audit.rows:
        if row.status == "not a name":
            continue
        if row.status == "generated (derived)":
            names.append(row.sites[0].name)
        else:
            names.append(row.declaration.name if row.declaration else row.name)
    return "".join(f"{name}\n" for name in dict.fromkeys(names))
