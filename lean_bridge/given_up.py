"""Words by which a proof is not given, or left to the compiler: `sorry`, `admit`, `stop`, `native_decide`, …"""

import re

from lean_bridge.names import REST

# Each word with the flag it sets. `admit` and `stop` are tactics only; they may also name a field.
_FLAGS = {
    "sorry": "sorry",
    "sorryAx": "sorry",
    "admit": "admit",
    "stop": "stop",
    "native_decide": "native_decide",
    "bv_decide": "bv_decide",
}
_BEFORE = re.compile(rf"[{REST}.«`]")
_AFTER = re.compile(rf"[{REST}]")
_FIELD = re.compile(r"\s*:")


def given_up(code: str) -> list[tuple[int, str]]:
    """Offset and flag of each such word of a blanked text, in order."""
    found = []
    for word, flag in _FLAGS.items():
        at = code.find(word)
        while at >= 0:
            end = at + len(word)
            whole = not (at and _BEFORE.match(code, at - 1)) and not _AFTER.match(code, end)
            if whole and not (flag in ("admit", "stop") and _FIELD.match(code, end)):
                found.append((at, flag))
            at = code.find(word, end)
    at = code.find("+native")
    while at >= 0:
        if code[max(0, at - 80) : at].rstrip().endswith("decide") and not _AFTER.match(code, at + 7):
            found.append((at, "native_decide"))
        at = code.find("+native", at + 7)
    return sorted(found)
