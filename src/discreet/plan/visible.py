"""Text that others wrote, on a line of ours: names, keys, paths, questions. None of it steers a terminal, or begins a line of its own."""


def visible(text: str) -> str:
    """A text with control characters written out: none of them reaches a terminal, or turns a line around.

    >>> print(visible("a\\x1b[31m"), visible("ward 3"))
    a\\x1b[31m ward 3
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
