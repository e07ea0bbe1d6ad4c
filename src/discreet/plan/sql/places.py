"""The places where words of sub-queries and joins may stand."""

from sqlglot.tokenizer_core import Token, TokenType

T = TokenType


def begins_a_select(tokens: list[Token], i: int) -> bool:
    """Whether a SELECT, or its WITH, can stand here: at the beginning, behind WITH, in brackets behind FROM or behind the AS of WITH."""
    if i and tokens[i].token_type is T.SELECT and tokens[i - 1].token_type is T.R_PAREN:
        return True
    brackets = i
    while brackets and tokens[brackets - 1].token_type is T.L_PAREN:
        brackets -= 1
    return i == 0 or (0 < brackets < i and tokens[brackets - 1].token_type in (T.FROM, T.ALIAS, T.JOIN))


def joins(token: Token, before: Token | None, after: Token | None) -> bool:
    """Whether a word is one of LEFT OUTER JOIN, INNER JOIN, and of what is joined on."""
    first, last = (None if each is None else each.token_type for each in (before, after))
    match token.token_type:
        case T.LEFT | T.INNER:
            return last is T.JOIN or (token.token_type is T.LEFT and last is T.OUTER)
        case T.OUTER:
            return first is T.LEFT and last is T.JOIN
        case T.ON:
            return first is not T.DISTINCT
        case T.USING:
            return last is T.L_PAREN
    return False
