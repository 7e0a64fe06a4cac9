"""From text to an expression tree, by the grammar in expression.lark. Imported only when it is needed."""

from collections.abc import Collection
from functools import cache
from importlib import resources

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken, v_args

from certify.arithmetic.exact import NumberError, shown
from certify.arithmetic.expression import (
    FUNCTIONS,
    Call,
    Expression,
    ExpressionError,
    Name,
    Negation,
    Number,
    Operation,
)


def parse_tree(text: str) -> Expression:
    """The tree of `text`, of any depth; raises ExpressionError naming the column."""
    try:
        return _parser().parse(text)  # type: ignore[return-value]  # the transformer builds expressions
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None


@cache
def _parser() -> Lark:
    grammar = resources.files("certify.arithmetic").joinpath("expression.lark").read_text(encoding="utf-8")
    return Lark(grammar, start="sum", parser="lalr", transformer=_Builder())


@v_args(inline=True)
class _Builder(Transformer[Token, Expression]):
    """Builds the nodes while the text is parsed, bottom-up and without recursion."""

    def add(self, left: Expression, right: Expression) -> Expression:
        return Operation("+", left, right)

    def subtract(self, left: Expression, right: Expression) -> Expression:
        return Operation("-", left, right)

    def multiply(self, left: Expression, right: Expression) -> Expression:
        return Operation("*", left, right)

    def divide(self, left: Expression, right: Expression) -> Expression:
        return Operation("/", left, right)

    def power(self, left: Expression, right: Expression) -> Expression:
        return Operation("^", left, right)

    def negate(self, operand: Expression) -> Expression:
        return Negation(operand)

    def number(self, token: Token) -> Expression:
        try:
            return Number(str(token))
        except NumberError as error:
            raise ExpressionError(f"column {token.column}: {error}") from None

    def name(self, token: Token) -> Expression:
        if token in FUNCTIONS:
            raise ExpressionError(f"column {token.column}: {token} is a function; write {token}(...)")
        return Name(str(token))

    def call(self, token: Token, *arguments: Expression) -> Expression:
        try:
            return Call(str(token), arguments)
        except ExpressionError as error:
            raise ExpressionError(f"column {token.column}: {error}") from None


def _syntax_error(text: str, error: UnexpectedInput) -> ExpressionError:
    expected: Collection[str] = ()
    column, found = error.column, ""
    match error:
        case UnexpectedToken(expected=expected, token=token):
            found = str(token)
        case UnexpectedCharacters(allowed=expected, char=found):
            pass
    if not found:
        column = len(text) + 1
        if "NUMBER" not in expected:
            return ExpressionError(f"column {column}: a closing bracket is missing")
    if text[column - 2 : column] == "**":
        return ExpressionError(f"column {column}: unexpected '*'; write ^ for a power")
    wanted = "a number, a name or an opening bracket" if "NUMBER" in expected else "an operator"
    return ExpressionError(f"column {column}: {shown(found) if found else 'the end'} where {wanted} is expected")
