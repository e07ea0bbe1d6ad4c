"""What is checked on the text and on its words before anything is parsed.

The parser is compiled and recursive, and it tries some readings again and again: depth, length and words are therefore bounded here, where
one loop over the words is enough. A word that is not on the list, is not a name that is declared or given, and is not
written in double quotes does not reach the parser.
"""

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from discreet.errors import Invalid, QueryError
from discreet.exact import shown
from discreet.plan.features import NAMES
from discreet.plan.functions import spelt
from discreet.plan.releases.base import registry
from discreet.plan.sql.places import begins_a_select, joins
from discreet.plan.sql.refusals import Code, caret, function_refusal, known, quoted, refusal, type_refusal
from discreet.plan.sql.shares import with_shares

MOST_BYTES = 1 << 16
MOST_DEPTH = 100
MOST_ITEMS = 1_000
MOST_WORDS = 10_000
DUCKDB = Dialect.get_or_raise("duckdb")

T = TokenType
TYPE_WORDS = {
    *(T.DATE, T.TIMESTAMPNTZ, T.BOOLEAN, T.TEXT, T.VARCHAR, T.CHAR),
    *(T.TINYINT, T.SMALLINT, T.INT, T.BIGINT, T.FLOAT, T.DOUBLE, T.DECIMAL),
}
PREFIXES = {T.NOT, T.DASH, T.PLUS}
CHAINED = {
    T.PLUS,
    T.DASH,
    T.STAR,
    T.SLASH,
    T.DIV,
    T.MOD,
    T.DSTAR,
    T.CARET,
    T.DPIPE,
    T.DCOLON,
    T.DOT,
    T.IS,
}  # each makes the expression one deeper
SEPARATING = {T.JOIN, T.ON, T.COMMA, T.AND, T.OR, T.WHEN, T.THEN, T.ELSE, T.WHERE, T.GROUP_BY, T.HAVING, T.ORDER_BY}
ALLOWED = TYPE_WORDS | {
    *(T.OVER, T.PARTITION_BY, T.JOIN),
    *(T.SELECT, T.FROM, T.WHERE, T.GROUP_BY, T.HAVING, T.ORDER_BY, T.LIMIT, T.OFFSET, T.ALIAS, T.DISTINCT, T.FILTER),
    *(T.CASE, T.WHEN, T.THEN, T.ELSE, T.END, T.AND, T.OR, T.NOT, T.IN, T.IS, T.ISNULL, T.NOTNULL, T.BETWEEN),
    *(T.LIKE, T.ILIKE, T.ESCAPE, T.ASC, T.DESC, T.FIRST, T.NULL, T.TRUE, T.FALSE, T.UNKNOWN),
    *(T.L_PAREN, T.R_PAREN, T.COMMA, T.DOT, T.STAR, T.PLUS, T.DASH, T.SLASH, T.DIV, T.MOD, T.DSTAR, T.CARET, T.DPIPE),
    *(T.DCOLON, T.EQ, T.NEQ, T.LT, T.LTE, T.GT, T.GTE),
    *(T.INTERVAL, T.STRING, T.NUMBER, T.IDENTIFIER, T.VAR, T.PLACEHOLDER, T.PARAMETER, T.COLON),
}
READ_OTHERWISE = {  # than the functions of the table, and releases
    *("DATE_TRUNC", "DATETRUNC", "DATEDIFF", "DATE_DIFF", "DATE_PART", "DATEPART", "STRFTIME", "TO_CHAR", "DATE_ADD"),
    *("MOD", "EXTRACT", "COALESCE", "IFNULL", "NULLIF", "IF", "IIF", "CAST", "TRY_CAST", "CONCAT", "LOG", "POSITION"),
    *("RANK", "DENSE_RANK", "ROW_NUMBER", "GROUPING", "GROUPING_ID", "HISTOGRAM"),
}
BY_UNIT = {"DATE_TRUNC", "DATETRUNC", "DATEDIFF", "DATE_DIFF", "DATE_PART", "DATEPART"}  # named by their first operand
SYMBOLIC = {T.NOT: "!", T.LIKE: "~~", T.ILIKE: "~~*"}  # other spellings of words, which engines read differently

JOIN = (
    Code.JOIN,
    "this form of a join is not available",
    "write FROM bookings b JOIN airports a ON b.dest = a.faa, or LEFT JOIN, with the table about people first",
)
SET_OPERATION = (
    Code.SET_OPERATION,
    "questions cannot be combined",
    "one question does it: GROUP BY a column or a CASE of conditions, or COUNT(*) FILTER (WHERE …) for each part; or ask them one by one",
)
WINDOW = (
    Code.WINDOW,
    "this is not available of windows",
    "SUM(COUNT(*)) OVER () and RANK() OVER (ORDER BY …) are, on released values",
)
PIVOT = (Code.PIVOT, "PIVOT is not available", "use GROUP BY, or COUNT(*) FILTER (WHERE …) for each column")
SUBQUERY = (
    Code.SUBQUERY,
    "a question inside a question is not available here",
    "sub-queries stand behind FROM or WITH and filter rows; ask for other numbers by themselves, and write them as constants",
)
STAR = (Code.STAR, "* is not released", "name keys and aggregates: ward, COUNT(*)")
RECURSIVE = (Code.CTE, "WITH RECURSIVE is not available", "a sub-query filters rows and computes columns of each")
SAMPLE = (Code.SAMPLE, "samples are not available", "remove the clause: all rows are used, and noise is added")
GROUPING = (
    Code.GROUPING,
    "ROLLUP, CUBE and GROUPING SETS stand in GROUP BY, before their keys in brackets",
    "write GROUP BY ROLLUP (ward, smoker)",
)
CLOCK = (Code.CLOCK, "an answer must not depend on when it is asked", "write DATE '2024-12-31', or bind a parameter")
SESSION = (Code.FUNCTION, "a question cannot depend on who asks it", "use columns, constants and parameters")
LISTS = (Code.OPERATOR, "lists, structs and maps are not available", "use round brackets and plain columns")
OPERATOR = (
    Code.OPERATOR,
    "this operator is not available",
    "operators are + - * / // % ^ || and comparisons, LIKE, IN, BETWEEN, IS",
)
BACKTICK = (Code.NAME, "names do not stand in backticks", 'write the name alone, or in double quotes: "name"')
STRINGS = (Code.LITERAL, "this kind of text constant is not available", "write text as 'it''s'")
REFUSED: dict[TokenType, tuple[Code, str, str]] = {
    **dict.fromkeys((T.CROSS, T.INNER, T.LEFT, T.RIGHT, T.FULL, T.OUTER, T.NATURAL, T.SEMI, T.ANTI, T.ASOF), JOIN),
    **dict.fromkeys((T.POSITIONAL, T.STRAIGHT_JOIN, T.LATERAL, T.APPLY, T.ON), JOIN),
    **dict.fromkeys((T.UNION, T.EXCEPT, T.INTERSECT), SET_OPERATION),
    **dict.fromkeys((T.WINDOW, T.QUALIFY, T.PARTITION, T.ROWS, T.RANGE), WINDOW),
    **dict.fromkeys((T.PIVOT, T.UNPIVOT), PIVOT),
    **dict.fromkeys((T.EXISTS, T.ANY, T.SOME, T.UNNEST, T.VALUES), SUBQUERY),
    **dict.fromkeys((T.TABLE_SAMPLE, T.USING), SAMPLE),
    **dict.fromkeys((T.ROLLUP, T.CUBE, T.GROUPING_SETS), GROUPING),
    T.ALL: (Code.KEYWORD, "ALL is not available", "name each key, and leave ALL out elsewhere"),
    T.PERCENT: (Code.LIMIT, "LIMIT needs a whole number", "write LIMIT 10"),
    **dict.fromkeys((T.CURRENT_DATE, T.CURRENT_TIME, T.CURRENT_TIMESTAMP, T.LOCALTIME, T.LOCALTIMESTAMP), CLOCK),
    **dict.fromkeys((T.CURRENT_USER, T.SESSION_USER, T.CURRENT_SCHEMA, T.CURRENT_CATALOG), SESSION),
    **dict.fromkeys((T.L_BRACKET, T.R_BRACKET, T.L_BRACE, T.R_BRACE, T.STRUCT, T.MAP, T.ARRAY, T.COLON_EQ), LISTS),
    **dict.fromkeys(
        (T.HEREDOC_STRING, T.RAW_STRING, T.BYTE_STRING, T.HEX_STRING, T.BIT_STRING, T.NATIONAL_STRING), STRINGS
    ),
    T.UNICODE_STRING: STRINGS,
    T.WITH: (Code.CLAUSE, "WITH is not available here", "remove it"),
    T.RECURSIVE: RECURSIVE,
    T.COLLATE: (Code.COLLATION, "COLLATE is not available", "text is compared by its code points; ILIKE ignores case"),
    T.FETCH: (
        Code.LIMIT,
        "this form of FETCH is not available",
        "write FETCH FIRST 10 ROWS ONLY at the end, or LIMIT 10",
    ),
    T.INTO: (Code.CLAUSE, "INTO is not available", "a question writes nothing"),
    T.FOR: (Code.CLAUSE, "FOR is not available", "a question locks nothing"),
    T.SEMICOLON: (Code.SEVERAL_STATEMENTS, "one question at a time", "ask the questions one by one"),
}
AFTER: dict[TokenType, tuple[Code, str, str]] = {  # DISTINCT ON, * REPLACE
    T.ON: (Code.DISTINCT, "DISTINCT ON is not available", "use GROUP BY"),
    T.REPLACE: STAR,
    T.RENAME: STAR,
}
STRAY = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")  # invisible, or turn the text around


@dataclass(frozen=True, slots=True)
class QueryText:
    """A text that is small and flat enough to parse, and its words. `?` and `:name` are written `$0` and `$name`."""

    text: str
    tokens: list[Token]
    parameters: tuple[str, ...]  # in the order of the text; positions are numbers


# The parser passes over an item of a list that is not there, and over a sign before nothing.
BEFORE_AN_ITEM = {T.SELECT, T.DISTINCT, T.GROUP_BY, T.ORDER_BY, T.COMMA, T.L_PAREN, T.PLUS}
AFTER_AN_ITEM = {
    *(
        T.COMMA,
        T.R_PAREN,
        T.FROM,
        T.JOIN,
        T.WHERE,
        T.GROUP_BY,
        T.HAVING,
        T.ORDER_BY,
        T.LIMIT,
        T.OFFSET,
        T.ALIAS,
        T.ASC,
        T.DESC,
    ),
    *(T.AND, T.OR, T.THEN, T.ELSE, T.END, T.WHEN, T.IS, T.IN, T.LIKE, T.ILIKE, T.BETWEEN, T.DCOLON),
    *(T.EQ, T.NEQ, T.LT, T.LTE, T.GT, T.GTE, T.STAR, T.SLASH, T.DIV, T.MOD, T.DSTAR, T.CARET, T.DPIPE),
}


def check_dates(text: str, tokens: list[Token]) -> None:
    """DATE(…) does not stand inside of another one: the parser would read what is in it once more for each."""
    depth, within = 0, 0
    for token, after in pairwise(tokens):
        if token.token_type is T.DATE and after.token_type is T.L_PAREN:
            if within:
                message = "DATE(…) stands inside of another DATE(…)"
                raise refusal(Code.FUNCTION, message, "write CAST(… AS DATE) for the inner one", text, token)
            within = depth + 1
        depth += (token.token_type is T.L_PAREN) - (token.token_type is T.R_PAREN)
        if token.token_type is T.R_PAREN and depth < within:
            within = 0


def check_gaps(text: str, tokens: list[Token]) -> None:
    """No comma before which nothing stands, and no + before nothing: an item would be forgotten. A comma at the end of a list may stand."""
    for i, token in enumerate(tokens):
        before = tokens[i - 1].token_type if i else None
        after = tokens[i + 1].token_type if i + 1 < len(tokens) else None
        missing = token.token_type is T.COMMA and before in BEFORE_AN_ITEM
        if missing or (token.token_type is T.PLUS and (after is None or after in AFTER_AN_ITEM)):
            failure = refusal(
                Code.SYNTAX,
                f"nothing stands {'before this comma' if missing else 'behind this +'}",
                "write what is missing, or leave it out",
            )
            failure.add_note(caret(text, token.start, token.end))
            raise failure


def read(text: str, names: set[str]) -> QueryText:
    """The words of a text, or raises QueryError. `names` are those of the table and its columns, casefolded."""
    check_characters(text)
    try:
        tokens = list(DUCKDB.tokenize(text))
    except TokenError as error:
        start = error.start or 0
        failure = refusal(Code.SYNTAX, "a quote or a comment is not closed", "close it with ', \" or */")
        failure.add_note(caret(text, start, start))
        raise failure from None
    while tokens and tokens[-1].token_type is T.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise refusal(Code.EMPTY, "the text holds no question", "write SELECT COUNT(*) FROM …")
    check_first(text, tokens[0])
    tokens = with_shares(with_limit(tokens))
    check_depth(text, tokens)
    check_dates(text, tokens)
    check_gaps(text, tokens)
    check_words(text, tokens, names)
    tokens, parameters = with_parameters(text, tokens)
    return QueryText(text, tokens, parameters)


def check_characters(text: str) -> None:
    if not isinstance(text, str):
        raise Invalid(f"a question must be a text, got {shown(text)}")
    if len(text) > MOST_BYTES or len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise refusal(Code.TEXT_TOO_LONG, "the text is longer than 64 KiB", "ask less at once, or bind parameters")
    for place, character in enumerate(text):
        if character.isascii() and (character.isprintable() or character in "\t\n\r"):
            continue
        if unicodedata.category(character) in ("Cc", "Cs") or STRAY.match(character):
            raise refusal(
                Code.BAD_CHARACTER,
                f"character {place + 1} of the text is U+{ord(character):04X}, which cannot be seen",
                "remove it, or bind it as a parameter",
            )


def check_first(text: str, first: Token) -> None:
    if first.token_type in (T.SELECT, T.WITH):
        return
    if first.token_type is T.L_PAREN:
        raise refusal(*SUBQUERY, text, first)
    raise refusal(
        Code.NOT_A_SELECT,
        f"a question begins with SELECT, this one with {quoted(first.text)}",
        "write SELECT COUNT(*) FROM …",
        text,
        first,
    )


def check_words(text: str, tokens: list[Token], names: set[str]) -> None:
    """Every word is on the list, or is a name where a name can be."""
    nested = sum(token.token_type is T.SELECT for token in tokens) > 1
    known = names | {after.text.casefold() for word, after in pairwise(tokens) if word.token_type is T.ALIAS}
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else None
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        for comment in token.comments:
            if "/*" in comment or comment.startswith("+"):
                raise refusal(
                    Code.COMMENT, "comments inside comments, and hints, are not read", "remove it", text, token
                )
        if token.text == "`" and token.token_type is not T.IDENTIFIER:  # in double quotes it is a name
            raise refusal(*BACKTICK, text, token)
        if before is not None and before.token_type in (T.SELECT, T.DISTINCT) and is_top(token, after):
            message = "TOP is not available"
            raise refusal(Code.LIMIT, message, "write LIMIT at the end, such as LIMIT 5", text, token)
        begins = token.token_type in (T.SELECT, T.WITH) and begins_a_select(tokens, i)
        begins = begins or (token.token_type is T.ALL and before is not None and before.token_type is T.GROUP_BY)
        begins = begins or joins(token, before, after) or rolls_up(tokens[:i], token, after)
        named = begins or token.token_type in ALLOWED or is_name(token, before, known) or is_call(token, after)
        named = named or (token.token_type in (T.L_BRACKET, T.R_BRACKET) and is_in(tokens[:i], "HISTOGRAM"))
        if not named and not (token.token_type is T.FOR and is_in(tokens[:i], "SUBSTRING", "SUBSTR")):
            raise word_refusal(text, token, before, after)
        if token.text == SYMBOLIC.get(token.token_type) or (token.token_type is T.PARAMETER and token.text != "$"):
            raise refusal(*OPERATOR, text, token)
        if token.token_type is T.SELECT and not begins:
            raise refusal(*SUBQUERY, text, token)
        if after is not None:
            check_pair(text, token, after)
            if after.token_type is T.L_PAREN and token.token_type is T.VAR:
                check_function(text, token, before, nested)
                if token.text.upper() in BY_UNIT:
                    check_unit(text, token, tokens[i + 2] if i + 2 < len(tokens) else None)


def is_name(token: Token, before: Token | None, known: set[str]) -> bool:
    """A reserved word that is a name here: declared, or given after AS, or after a dot."""
    if not token.text.isidentifier():
        return False
    return token.text.casefold() in known or (before is not None and before.token_type in (T.ALIAS, T.DOT))


def rolls_up(before: list[Token], token: Token, after: Token | None) -> bool:
    """Whether a word is ROLLUP, CUBE or GROUPING SETS before a bracket, behind GROUP BY or a comma or bracket after that."""
    return (
        token.token_type in (T.ROLLUP, T.CUBE, T.GROUPING_SETS)
        and after is not None
        and after.token_type is T.L_PAREN
        and before[-1].token_type in (T.GROUP_BY, T.COMMA, T.L_PAREN)
        and any(each.token_type is T.GROUP_BY for each in before)
    )


def is_top(token: Token, after: Token | None) -> bool:
    """Whether the first word of SELECT is TOP 5 or TOP (5): no column can stand before a number, and no function has this name."""
    return token.text.upper() == "TOP" and after is not None and after.token_type in (T.NUMBER, T.L_PAREN)


def with_limit(tokens: list[Token]) -> list[Token]:
    """The words with FETCH FIRST 5 ROWS ONLY at their end as LIMIT 5; without a number it is 1."""
    words = [token.text.upper() for token in tokens]
    fetch = next((i for i, token in enumerate(tokens) if token.token_type is T.FETCH), len(tokens))
    _, *rest = words[fetch:] or [""]
    if len(rest) < 3 or rest[0] not in ("FIRST", "NEXT") or rest[-2] not in ("ROW", "ROWS") or rest[-1] != "ONLY":
        return tokens
    word = tokens[fetch]
    one = Token(T.NUMBER, "1", word.line, word.col, word.start, word.end, [])
    before = tokens[:fetch]
    if len(before) > 2 and words[fetch - 1] in ("ROW", "ROWS") and before[-3].token_type is T.OFFSET:
        before.pop()
    limit = Token(T.LIMIT, "LIMIT", word.line, word.col, word.start, word.end, word.comments)
    return [*before, limit, *(tokens[fetch + 2 : -2] or [one])]


def is_call(token: Token, after: Token | None) -> bool:
    """A reserved word that is a function of the table here, as LEFT might be."""
    return after is not None and after.token_type is T.L_PAREN and spelt(token.text) is not None


def is_in(before: list[Token], *names: str) -> bool:
    """Whether these words have opened a bracket behind one of these names and not closed it: FOR says how long a part of a text is, and
    square brackets hold the ends of bins."""
    depth = 0
    for token, name in pairwise(reversed(before)):
        depth += (token.token_type is T.R_PAREN) - (token.token_type is T.L_PAREN)
        if depth < 0:
            return name.text.upper() in names
    return False


def word_refusal(text: str, token: Token, before: Token | None, after: Token | None) -> QueryError:
    """What to say of a word that is not on the list."""
    called = after is not None and after.token_type is T.L_PAREN and token.text.isidentifier()
    if before is not None and before.token_type in (T.STAR, T.DISTINCT, T.GROUP_BY) and token.token_type in AFTER:
        return refusal(*AFTER[token.token_type], text, token)
    if called and before is not None and before.token_type is T.FROM:
        return table_refusal(text, token)
    if before is not None and before.token_type is T.DCOLON:
        return type_refusal(token.text, text, token)
    if token.token_type in REFUSED and not (called and token.token_type in (T.LEFT, T.RIGHT, T.RANGE)):
        return refusal(*REFUSED[token.token_type], text, token)
    if called:
        return function_refusal(token.text, text, token)
    if not token.text.isidentifier():
        return refusal(*OPERATOR, text, token)
    return refusal(
        Code.KEYWORD,
        f"{quoted(token.text)} is a reserved word that is not available here",
        "remove it, or put a name in double quotes",
        text,
        token,
    )


def table_refusal(text: str, token: Token) -> QueryError:
    message = f"{quoted(token.text)} is not a declared table"
    return refusal(Code.TABLE_FUNCTION, message, "FROM needs the name of one table", text, token)


def check_pair(text: str, token: Token, after: Token) -> None:
    """What two neighbours would make of each other. A type before a bracket is read in exponentially many ways."""
    adjacent = token.end + 1 == after.start
    if after.token_type is T.L_PAREN:
        if token.token_type in TYPE_WORDS and token.token_type is not T.DATE:
            hint = "types have no parameters here: write DOUBLE, or VARCHAR; for a constant write DATE '2024-12-31'"
            raise refusal(Code.FUNCTION, f"{quoted(token.text)} is a type, not a function", hint, text, token)
        if token.token_type is T.IDENTIFIER or (token.token_type is T.VAR and not token.text.isascii()):
            hint = "write the function's name in plain letters"
            raise refusal(Code.FUNCTION, f"{quoted(token.text)} is not a function", hint, text, token)
    if token.token_type is T.NUMBER and adjacent and (after.token_type is T.NUMBER or after.text[:1].isidentifier()):
        raise refusal(
            Code.LITERAL, f"{quoted(token.text + after.text)} is not a number", "write 31, 0.5 or 2e3", text, token
        )
    if token.token_type is T.STRING and after.token_type is T.STRING:
        raise refusal(Code.LITERAL, "two texts stand side by side", "write one text", text, after)


def check_function(text: str, token: Token, before: Token | None, nested: bool) -> None:
    """A word before a bracket is a function on the list, which has more names where a sub-query might gather rows of people."""
    place = None if before is None else before.token_type
    if place is T.DOT:
        raise refusal(Code.SCHEMA, "functions of other schemas are not available", known(), text, token)
    name = token.text.upper()
    if name == "GROUP" and before is not None and before.text.upper() == "WITHIN":
        return
    if (
        name in READ_OTHERWISE
        or spelt(name) is not None
        or registry.named(name) is not None
        or (nested and name in NAMES)
    ):
        return
    if place is T.FROM:
        raise table_refusal(text, token)
    if place in (T.ALIAS, T.WITH):
        raise refusal(
            Code.CLAUSE, "columns cannot be renamed here", "name outputs in SELECT: age AS years", text, token
        )
    if place is T.STAR:
        raise refusal(*STAR, text, token)
    raise function_refusal(token.text, text, token)


def check_unit(text: str, token: Token, first: Token | None) -> None:
    """The unit stands in quotes, as the parser would take a bare word for a text."""
    if first is None or first.token_type is not T.STRING:
        hint = f"write {token.text.upper()}('month', …)"
        raise refusal(Code.FUNCTION, f"{quoted(token.text)} needs a unit in single quotes", hint, text, token)


def check_depth(text: str, tokens: list[Token]) -> None:
    """Brackets, CASE, chains of NOT and signs, chains of operators; and how long a list is in each bracket."""
    items, chains = [1], [0]  # of the list, and of its present item, in each open bracket
    cases = prefixes = 0
    for token in tokens:
        kind = token.token_type
        prefixes = prefixes + 1 if kind in PREFIXES else 0
        cases += (kind is T.CASE) - (kind is T.END and cases > 0)
        if kind is T.L_PAREN:
            items.append(1)
            chains.append(0)
        elif kind is T.R_PAREN and len(items) > 1:
            items.pop()
            chains.pop()
        elif kind in (T.COMMA, T.WHEN):
            items[-1] += 1
        if kind in CHAINED:
            chains[-1] += 1
        elif kind in SEPARATING:
            chains[-1] = 0
        if max(len(items) + cases, prefixes, chains[-1]) > MOST_DEPTH:
            message = f"the text is nested more than {MOST_DEPTH} deep"
            raise refusal(Code.TOO_DEEP, message, "write it flatter", text, token)
        if items[-1] > MOST_ITEMS:
            message = f"a list holds more than {MOST_ITEMS:,} items"
            raise refusal(Code.TOO_MANY_ITEMS, message, "ask less at once", text, token)
    selects = [token for token in tokens if token.token_type is T.SELECT]
    if len(selects) > MOST_DEPTH:
        message = f"the text has more than {MOST_DEPTH} sub-queries"
        raise refusal(Code.TOO_DEEP, message, "write it flatter", text, selects[MOST_DEPTH])
    if len(tokens) > MOST_WORDS:
        raise refusal(Code.TOO_MANY_ITEMS, f"the text has more than {MOST_WORDS:,} words", "ask less at once")


def with_parameters(text: str, tokens: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    """The words with every parameter as `$` and its name or number, and all of those."""
    words: list[Token] = []
    names: list[str] = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        i += 1
        if token.token_type not in (T.PLACEHOLDER, T.PARAMETER, T.COLON):
            words.append(token)
            continue
        after = tokens[i] if i < len(tokens) else None
        if token.token_type is T.PLACEHOLDER and not (after and after.token_type is T.NUMBER):
            name = Token(T.NUMBER, str(len(names)), token.line, token.col, token.start, token.end, [])
        elif (
            token.token_type is not T.PLACEHOLDER
            and after
            and after.text.isidentifier()
            and token.end + 1 == after.start
        ):
            name = Token(T.VAR, after.text, after.line, after.col, after.start, after.end, after.comments)
            i += 1
        else:
            raise refusal(Code.PARAMETER, "a parameter has no name", "write ?, :name or $name", text, token)
        names.append(name.text)
        words += [Token(T.PARAMETER, "$", token.line, token.col, token.start, token.end, token.comments), name]
    return words, tuple(names)
