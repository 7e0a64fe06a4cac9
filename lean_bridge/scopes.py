"""Namespaces, sections and what they make a declaration depend on, by Lean's own rules.

`namespace A.B` opens two scopes and `end B` closes one. An `end` whose names do not fit the innermost
scopes is an error in Lean and changes nothing. `_root_` is special in the name of a declaration, not of a
namespace.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from lean_bridge.names import Name

# Longer names are not read: every member repeats its owner's name, so their total length would be quadratic.
MAX_NAME_LENGTH = 500
_MAX_OPENS = 100


@dataclass(frozen=True, slots=True)
class Scope:
    """One open scope. `context` is a hash chain over everything in force that a statement may depend on."""

    kind: str
    name: str | None
    namespace: Name
    context: bytes
    noncomputable: bool = False
    public: bool = False
    meta: bool = False
    skips_kernel: bool = False
    shadows: bool = False
    opens: tuple[str, ...] = ()
    lost: bool = False


class Scopes:
    """The open scopes at one point of a file."""

    def __init__(self) -> None:
        self._stack = [Scope("file", None, (), b"")]

    @property
    def top(self) -> Scope:
        """The innermost scope."""
        return self._stack[-1]

    def namespace(self, name: Name) -> bool:
        """Open `namespace A.B`: one scope per component. False where it is `lost`: too long a name."""
        for part in name:
            top = self.top
            inner = (*top.namespace, part)
            lost = top.lost or sum(map(len, inner)) + len(inner) > MAX_NAME_LENGTH
            self._push("namespace", part, top.namespace if lost else inner, chain(top.context, f"namespace {part}"))
            self._change(lost=lost)
        return not self.top.lost

    def section(self, name: Name | None, modifiers: list[str]) -> None:
        """Open a section: one scope per component of its name, or one without a name."""
        for part in name or (None,):
            top = self.top
            self._push("section", part, top.namespace, top.context, modifiers)

    def mutual(self) -> None:
        """Open a `mutual` block, which a nameless `end` closes."""
        self._push("mutual", None, self.top.namespace, self.top.context)

    def end(self, name: Name | None) -> bool:
        """Close what `end name` closes; False where Lean would report an error."""
        count = len(name) if name else 1
        if count >= len(self._stack):
            return False
        closing = self._stack[-count:]
        if name is None:
            if closing[0].name is not None:
                return False
        elif tuple(scope.name for scope in closing) != name:
            return False
        del self._stack[-count:]
        return True

    def depend(self, text: str) -> None:
        """Add a command such as `variable (n : ℕ)` to what later statements depend on."""
        self._change(context=chain(self.top.context, text))

    def open(self, namespaces: tuple[str, ...]) -> None:
        """Add namespaces that `open` makes visible by their short names."""
        self._change(opens=joined_opens(self.top.opens, namespaces))

    def skip_kernel(self) -> None:
        """Note `set_option debug.skipKernelTC true`."""
        self._change(skips_kernel=True)

    def shadow(self) -> None:
        """Note a local notation that takes the place of a standard one."""
        self._change(shadows=True)

    def full_name(self, name: Name) -> Name:
        """The name that a declaration called `name` gets here."""
        return name[1:] if len(name) > 1 and name[0] == "_root_" else (*self.top.namespace, *name)

    def _push(
        self, kind: str, name: str | None, namespace: Name, context: bytes, modifiers: list[str] | None = None
    ) -> None:
        top = self.top
        words = modifiers or []
        self._stack.append(
            Scope(
                kind,
                name,
                namespace,
                context,
                top.noncomputable or "noncomputable" in words,
                top.public or "public" in words,
                top.meta or "meta" in words,
                top.skips_kernel,
                top.shadows,
                top.opens,
                top.lost,
            )
        )

    def _change(self, **changes: Any) -> None:
        self._stack[-1] = replace(self.top, **changes)


def opened(text: str) -> tuple[str, ...]:
    """The namespaces of `open A B`, `open scoped A`, `open A (x)`; `A*` where only part of A is opened."""
    words = text.replace("(", " ( ").split()[1:]
    if words[:1] == ["scoped"]:
        return tuple(f"{word}*" for word in words[1:])
    if any(word in ("(", "hiding", "renaming") for word in words):
        return tuple(f"{word}*" for word in words[:1])
    return tuple(words)


def joined_opens(before: tuple[str, ...], more: Sequence[str]) -> tuple[str, ...]:
    """All opened namespaces; only `*`, which stands for too many to list, beyond 100."""
    joined = tuple(dict.fromkeys((*before, *more)))
    return joined if len(joined) <= _MAX_OPENS and "*" not in joined else ("*",)


def chain(before: bytes, text: str) -> bytes:
    """The hash of everything so far and one more command."""
    return sha256(before + text.encode("utf-8", "surrogatepass")).digest()
