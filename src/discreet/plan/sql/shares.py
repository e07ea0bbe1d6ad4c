"""A list of shares: QUANTILE(x, [0.1, 0.5, 0.9]) as an output stands for one output for each share.

The words of the output are repeated, each time with one of the shares for the list, and behind its name, if it has one, stands which:
`AS q` makes q_10, q_50 and q_90. Only a whole output is read so, and only of numbers; anything else in brackets is refused as before.
"""

from itertools import takewhile

from sqlglot.tokenizer_core import Token, TokenType

from discreet.plan.releases.base import registry

T = TokenType
OPENING, CLOSING = (T.L_PAREN, T.L_BRACKET), (T.R_PAREN, T.R_BRACKET)
MOST_SHARES = 100
UNREPEATED = (T.PLACEHOLDER, T.PARAMETER)  # each of which is one value


def with_shares(tokens: list[Token]) -> list[Token]:
    """The words, with an output for each share of a list; those that hold none are as they were."""
    if not any(token.token_type is T.L_BRACKET for token in tokens):
        return tokens
    words: list[Token] = []
    for part in _parts(tokens):
        words += _each(part)
    return words


def _parts(tokens: list[Token]) -> list[list[Token]]:
    """The words in parts: each item of the outermost list is one, and what stands between items."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        if depth == 0 and token.token_type in (T.SELECT, T.COMMA, T.FROM):
            parts += [[token], []]
        else:
            parts[-1].append(token)
    return parts


def _each(part: list[Token]) -> list[Token]:
    """An item for each share, or the part as it is."""
    begin = next((i for i, token in enumerate(part) if token.token_type is T.L_BRACKET), None)
    if (
        begin is None
        or begin < 3
        or registry.named(part[0].text.upper()) is None
        or part[1].token_type is not T.L_PAREN
    ):
        return part
    inside = list(takewhile(lambda token: token.token_type is not T.R_BRACKET, part[begin + 1 :]))
    shares, commas, rest = inside[::2], inside[1::2], part[begin + 2 + len(inside) :]
    name = _name(part[2:begin], rest)
    if (
        name is None
        or not len(commas) < len(shares) <= MOST_SHARES
        or any(token.token_type is not T.NUMBER for token in shares)
        or any(token.token_type is not T.COMMA for token in (*commas, part[begin - 1]))
        or any(token.token_type in UNREPEATED for token in part)
    ):
        return part
    comma, called = part[begin - 1], [token for token in rest if token.token_type is not T.ALIAS and token is not name]
    items = [[*part[:begin], share, *called, *_named(name, share)] for share in shares]
    return [token for i, item in enumerate(items) for token in ([comma] if i else []) + item]


def _name(argument: list[Token], rest: list[Token]) -> Token | None:
    """What an output is called, by itself or after what it is of; None where the call is not all of it."""
    if not rest or rest[0].token_type is not T.R_PAREN:
        return None
    after = rest[1:]
    if after and after[0].token_type is T.FILTER:
        depth, end = 0, 1
        while end < len(after) and (end == 1 or depth):
            depth += (after[end].token_type in OPENING) - (after[end].token_type in CLOSING)
            end += 1
        after = after[end:]
    if after and after[0].token_type is T.ALIAS:
        after = after[1:]
    if not after:
        column = argument[0].text if len(argument) == 2 else ""
        return _token(rest[0], T.VAR, f"quantile_{column}" if column.isidentifier() else "quantile")
    return after[0] if len(after) == 1 and after[0].token_type in (T.VAR, T.IDENTIFIER) else None


def _named(name: Token, share: Token) -> list[Token]:
    """The name of an output, with the share in it."""
    return [_token(name, T.ALIAS, "AS"), _token(name, T.IDENTIFIER, f"{name.text}_{_percent(share.text)}")]


def _token(at: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, at.line, at.col, at.start, at.end, [])


def _percent(share: str) -> str:
    """A share in percent, as a part of a name.

    >>> _percent("0.1"), _percent("0.995"), _percent("1")
    ('10', '99_5', '100')
    """
    try:
        return f"{round(100 * float(share), 6):g}".replace(".", "_")
    except ValueError:
        return share
