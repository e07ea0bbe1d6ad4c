"""SQL text to a Question: every clause and every node of the parse tree is read, or refused with a code.

    text ── text (limits, words) ── sqlglot's parser ── clauses, expressions (one reader a node) ── unread words ── Question

Analyst text goes no further than this package: what runs is rendered from the question.
"""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from sqlglot import ErrorLevel, exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from discreet.errors import QueryError
from discreet.plan.catalog import Catalog
from discreet.plan.functions import is_unit
from discreet.plan.question import Question
from discreet.plan.scalar import Type
from discreet.plan.sql import aggregates, dates, functions, grouping, operators, text_calls, windows  # noqa: F401 (their readers register themselves)
from discreet.plan.sql.clauses import Clauses
from discreet.plan.sql.expressions import Expressions
from discreet.plan.sql.parameters import Parameters, bound
from discreet.plan.sql.people import grouped
from discreet.plan.sql.refusals import CODES, Code, caret, quoted, refusal
from discreet.plan.sql.released import ReleasedClauses, ReleasedGroups
from discreet.plan.sql.sources import Sources
from discreet.plan.sql.text import DUCKDB, QueryText, read

__all__ = ["CODES", "question"]

T = TokenType
LONGEST_HEADING = 40
WORDS = {"NULLS", "LAST", "IF"}  # read by the parser itself, and kept as no name; so are the units of EXTRACT
ENDS = {"BOTH", "LEADING", "TRAILING"}  # read in TRIM alone
READ_AS: dict[TokenType, tuple[type[exp.Expr], ...]] = {  # the nodes that a word becomes
    T.SELECT: (exp.Select,),
    T.WITH: (exp.With,),
    **dict.fromkeys((T.JOIN, T.INNER, T.OUTER, T.ON, T.USING), (exp.Join,)),
    T.WHERE: (exp.Where,),
    T.GROUP_BY: (exp.Group,),
    T.ROLLUP: (exp.Rollup,),
    T.CUBE: (exp.Cube,),
    T.GROUPING_SETS: (exp.GroupingSets,),
    T.HAVING: (exp.Having,),
    T.ORDER_BY: (exp.Order,),
    T.LIMIT: (exp.Limit,),
    T.OFFSET: (exp.Offset,),
    T.DISTINCT: (exp.Distinct, exp.NullSafeEQ, exp.NullSafeNEQ),
    T.FILTER: (exp.Filter,),
    T.FROM: (exp.From, exp.Extract, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Trim, exp.Substring),
    T.OVER: (exp.Window,),
    T.ALIAS: (exp.Alias, exp.TableAlias, exp.Cast, exp.TryCast),
    T.DESC: (exp.Ordered,),
    T.INTERVAL: (exp.Interval,),
    T.CASE: (exp.Case,),
    T.WHEN: (exp.If,),
    T.AND: (exp.And, exp.Between),
    T.OR: (exp.Or,),
    T.NOT: (exp.Not, exp.Like, exp.ILike, exp.NullSafeEQ),
    T.IN: (exp.In, exp.StrPosition),
    T.IS: (exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ),
    T.NULL: (exp.Null,),
    T.TRUE: (exp.Boolean,),
    T.FALSE: (exp.Boolean,),
    T.BETWEEN: (exp.Between,),
    T.LIKE: (exp.Like,),
    T.ILIKE: (exp.ILike,),
    T.ESCAPE: (exp.Escape,),
    T.STAR: (exp.Star, exp.Mul),
    T.DASH: (exp.Sub, exp.Neg),
    T.SLASH: (exp.Div,),
    T.DIV: (exp.IntDiv,),
    T.MOD: (exp.Mod,),
    **dict.fromkeys((T.DSTAR, T.CARET), (exp.Pow,)),
    T.DPIPE: (exp.DPipe,),
    T.FOR: (exp.Substring,),
    T.DCOLON: (exp.Cast,),
    T.EQ: (exp.EQ,),
    T.NEQ: (exp.NEQ,),
    T.LT: (exp.LT,),
    T.LTE: (exp.LTE,),
    T.GT: (exp.GT,),
    T.GTE: (exp.GTE,),
    T.STRING: (exp.Literal,),
    T.NUMBER: (exp.Literal,),
    T.PARAMETER: (exp.Placeholder,),
}


def question(text: str, catalog: Catalog, params: Parameters = None) -> Question:
    """The question that a text asks of what is declared.

    For any text and any values returns a question in canonical form, or raises QueryError with a code of `CODES`; nothing is read
    but the catalog. A caret under the place is a note of the error.
    """
    names = {
        name.casefold() for table in catalog.tables for name in (table.name, *(each.name for each in table.columns))
    }
    words = read(text, names)
    moments = any(each.type is Type.TIMESTAMP for table in catalog.tables for each in table.columns)
    parameters = bound(words.parameters, params, moments)
    select = parsed(words)
    sources = Sources(text, catalog, parameters, grouped)
    source = sources.source(select)
    sources.check_private(source, select)
    groups = source.origin
    if isinstance(groups, ReleasedGroups):
        clauses: Clauses = ReleasedClauses(sources, select, source, groups)
    else:
        clauses = Clauses(select, sources.expressions(source), source)
    asked = clauses.question()
    check_unread(words, clauses.read)
    return headed(asked, words, select)


def headed(asked: Question, words: QueryText, select: exp.Select) -> Question:
    """This question, whose outputs without a name are headed by what was written."""
    if all(isinstance(node, exp.Alias | exp.Column | exp.Star) for node in select.expressions):
        return asked
    if len(asked.outputs) != len(select.expressions):
        return asked  # a histogram has three outputs, which have names
    outputs = [
        output if isinstance(node, exp.Alias | exp.Column) else replace(output, heading=item)
        for output, node, item in zip(asked.outputs, select.expressions, items(words), strict=True)
    ]
    return replace(asked, outputs=tuple(outputs))


def items(words: QueryText) -> list[str]:
    """What stands between SELECT and FROM, item by item."""
    places: list[list[int]] = [[]]
    depth = 0
    tokens = outermost(words)
    first = 2 if tokens[1].token_type is T.DISTINCT else 1
    for last, token in pairwise(tokens[first - 1 :]):
        before, kind = last.token_type, token.token_type
        if depth == 0 and kind is T.FROM and before is not T.DISTINCT:
            break
        if depth == 0 and kind is T.COMMA:
            places.append([])
            continue
        depth += (kind is T.L_PAREN) - (kind is T.R_PAREN)
        places[-1] += [token.start, token.end]
    texts = [" ".join(words.text[min(ends) : max(ends) + 1].split()) for ends in places if ends]
    return [text if len(text) <= LONGEST_HEADING else f"{text[: LONGEST_HEADING - 1]}…" for text in texts]


def outermost(words: QueryText) -> list[Token]:
    """The words from the outermost SELECT on: those of WITH stand before it, in brackets."""
    depth = 0
    for i, token in enumerate(words.tokens):
        if depth == 0 and token.token_type is T.SELECT:
            return words.tokens[i:]
        depth += (token.token_type is T.L_PAREN) - (token.token_type is T.R_PAREN)
    return words.tokens


def parsed(words: QueryText) -> exp.Select:
    """The parse tree. Whatever the parser raises is one code, and its own words are not shown."""
    parser = DUCKDB.parser(error_level=ErrorLevel.IMMEDIATE, max_nodes=1_000 + 20 * len(words.tokens))
    hint = "check commas, brackets and the order SELECT … FROM … WHERE … GROUP BY … HAVING … ORDER BY … LIMIT"
    try:
        (tree,) = parser.parse(words.tokens, words.text)
    except (KeyboardInterrupt, SystemExit):
        raise
    except ParseError as error:
        raise _syntax(words, error, hint) from None
    except BaseException:
        raise refusal(Code.SYNTAX, "the text cannot be read as SQL", hint) from None
    if not isinstance(tree, exp.Select):
        raise refusal(Code.SYNTAX, "the text cannot be read as one SELECT", hint)
    return tree


def _syntax(words: QueryText, error: ParseError, hint: str) -> QueryError:
    failure = refusal(Code.SYNTAX, "the text cannot be read as SQL", hint)
    place = error.errors[0] if error.errors else {}
    line, column = place.get("line"), place.get("col")
    for token in words.tokens:
        if (token.line, token.col) == (line, column):
            failure.add_note(caret(words.text, token.start, token.end))
            break
    return failure


def check_unread(words: QueryText, expressions: Expressions) -> None:
    """Every word of the text has become a node that was read. The parser forgets some words without a word."""
    nodes = expressions.shared.read.values()
    starts = {node.meta["start"] for node in nodes if isinstance(node, exp.Identifier)}
    have = Counter(map(type, nodes))
    have[exp.Literal] += sum(isinstance(node, exp.Placeholder) and node.name.isdigit() for node in nodes)  # `?` is `$0`
    counts: Counter[object] = Counter()
    ends: Counter[str] = Counter()
    for i, token in enumerate(words.tokens):
        before = words.tokens[i - 1].token_type if i else None
        after = words.tokens[i + 1].token_type if i + 1 < len(words.tokens) else None
        classes = READ_AS.get(token.token_type)
        if classes is not None:
            kind = token.token_type if exp.Join in classes else classes
            counts[kind] += 1
            unread = counts[kind] > sum(have[each] for each in classes)
        elif token.token_type in (T.VAR, T.IDENTIFIER):
            named = token.start in starts or before is T.PARAMETER
            word = token.text.upper() in WORDS | dates.UNITS or is_unit(token.text)
            unread = not (named or word or after is T.L_PAREN)
            if unread and token.text.upper() in ENDS:
                ends[token.text.upper()] += 1
                unread = ends[token.text.upper()] > sum(
                    isinstance(node, exp.Trim) and node.args.get("position") == token.text.upper() for node in nodes
                )
            if unread and token.text.upper() == "WITHIN":
                counts[exp.WithinGroup] += 1
                unread = counts[exp.WithinGroup] > have[exp.WithinGroup]
        else:
            unread = False
        if unread:
            hint = "remove it, or add brackets"
            raise refusal(Code.UNREAD, f"{quoted(token.text)} cannot stand here", hint, words.text, token)
    places = sum(one.text.upper() == "POSITION" and two.token_type is T.L_PAREN for one, two in pairwise(words.tokens))
    if places + have[exp.In] > sum(token.token_type is T.IN for token in words.tokens):
        raise refusal(Code.FUNCTION, "POSITION has no comma", "write POSITION('x' IN t), or STRPOS(t, 'x')")
    if have[exp.Offset] and not any(token.token_type is T.OFFSET for token in words.tokens):
        raise refusal(Code.LIMIT, "LIMIT has two numbers", "write LIMIT 10 OFFSET 20")
