"""Text for a terminal. Names, keys and questions were written by others: nothing in them may steer it."""


def steady(text: str) -> str:
    """The text, with a sign in place of every character that does something instead of showing something.

    >>> steady("ward\\x1b]0;title\\x07\\n\\x9b2J")
    'ward�]0;title�\\n�2J'
    """
    return "".join(each if each.isprintable() or each in "\n\t" else "�" for each in text)
