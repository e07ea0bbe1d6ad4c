"""Patterns of LIKE, in the one form that our nodes have: a backslash takes the next character as it is."""

SPECIAL = "%_\\"


def plain_pattern(pattern: str, escape: str | None = None) -> str | None:
    """The pattern with `escape` written as a backslash, and only where one is needed; None if it is not complete.

    Without ESCAPE a backslash is a character like any other.

    >>> plain_pattern("10!%%", "!"), plain_pattern("a\\\\b")
    ('10\\\\%%', 'a\\\\\\\\b')
    """
    if escape is not None and len(escape) != 1:
        return None
    parts: list[str] = []
    taken = False
    for character in pattern:
        if taken or character == "\\" != escape:
            parts.append("\\" + character if character in SPECIAL else character)
            taken = False
        elif character == escape:
            taken = True
        else:
            parts.append(character)
    return None if taken else "".join(parts)
