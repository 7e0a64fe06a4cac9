"""How a checker says no."""


class Rejected(Exception):
    """The certificate does not show what it says; the message says where."""


def require(condition: bool, message: str) -> None:
    """Raise Rejected with the message unless the condition holds."""
    if not condition:
        raise Rejected(message)
