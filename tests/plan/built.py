"""Questions of SQL as calls of the builder, for all that it can say: read by sqlglot, and built by nobody's text."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp, parse_one
from sqlglot.errors import ParseError

from discreet.plan.build.expression import Expression, Ordered
from discreet.plan.build.functions import col, count, count_distinct, fn, interval, lit, when
from discreet.plan.build.select import Select


class Unsaid(Exception):
    """The builder has no words for this."""


BINARY: dict[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
    exp.Div: operator.truediv,
    exp.IntDiv: operator.floordiv,
    exp.Mod: operator.mod,
    exp.Pow: operator.pow,
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
    exp.And: operator.and_,
    exp.Or: operator.or_,
    exp.NullSafeNEQ: Expression.is_distinct_from,
    exp.NullSafeEQ: Expression.is_not_distinct_from,
    exp.DPipe: Expression.concat,
}
CALLED: dict[type[exp.Expr], str] = {
    exp.Avg: "avg",
    exp.CountIf: "count_if",
    exp.Stddev: "stddev",
    exp.StddevPop: "stddev_pop",
    exp.StddevSamp: "stddev_samp",
    exp.Variance: "variance",
    exp.VariancePop: "var_pop",
    exp.CovarPop: "covar_pop",
    exp.CovarSamp: "covar_samp",
    exp.Corr: "corr",
    exp.ApproxDistinct: "approx_count_distinct",
    exp.Quantile: "quantile",
    exp.StrPosition: "strpos",
    exp.StartsWith: "starts_with",
    exp.Year: "year",
    exp.Upper: "upper",
    exp.Lower: "lower",
    exp.Trim: "trim",
    exp.Date: "date",
}
PLAIN = (
    *(exp.Sum, exp.Median, exp.Mode, exp.Floor, exp.Ceil, exp.Abs, exp.Greatest, exp.Least, exp.Coalesce, exp.Nullif),
    *(exp.Length, exp.Left, exp.Right, exp.Replace, exp.Substring, exp.Contains, exp.Month, exp.Day, exp.Quarter),
    *(exp.Ln, exp.Exp, exp.Round, exp.Sqrt, exp.Max, exp.Min, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Sign),
    *(exp.RegrSlope, exp.RegrIntercept, exp.RegrR2, exp.RegrAvgx, exp.RegrAvgy, exp.RegrCount, exp.Week, exp.Dayname),
    *(exp.Monthname, exp.Hour, exp.Minute, exp.Trunc, exp.LogicalAnd, exp.WidthBucket, exp.Concat, exp.EndsWith),
)
TYPES = {
    "INT": int,
    "DOUBLE": float,
    "TEXT": str,
    "VARCHAR": str,
    "DATE": "DATE",
    "BOOLEAN": bool,
    "TIMESTAMP": "TIMESTAMP",
}


def built(text: str) -> Select:
    """The question of a text, as the builder says it; raises Unsaid where it cannot."""
    try:
        tree = parse_one(text, dialect="duckdb")
    except ParseError:
        raise Unsaid("no SQL") from None
    if not isinstance(tree, exp.Select):
        raise Unsaid(type(tree).__name__)
    return _select(tree, {})


def _select(node: exp.Select, known: Mapping[str, Select]) -> Select:
    _only(node, "expressions from_ from with_ where group having order limit offset distinct joins kind")
    names = dict(known)
    for cte in (node.args.get("with_") or exp.With(expressions=[])).expressions:
        names[cte.alias.casefold()] = _select(cte.this, names)
    asked = _source(node, names)
    if where := node.args.get("where"):
        asked = asked.where(_of(where.this))
    items = node.expressions
    group = node.args.get("group")
    having, order = node.args.get("having"), node.args.get("order")
    rows = group is None and not any(each.find(exp.AggFunc, exp.Anonymous) for each in items)
    if rows:
        asked = _rows(asked, items)
    else:
        keys, others = _grouped(items, group)
        if keys:
            form = "rollup" if group.args.get("rollup") else "cube" if group.args.get("cube") else ""
            plain = [_of(each) for each in keys if not isinstance(each, exp.Alias)]
            asked = asked.group_by(*plain, form=form, **_named(keys))
        plain = [_of(each) for each in others if not isinstance(each, exp.Alias)]
        asked = asked.agg(*plain, **_named(others))
    if node.args.get("distinct"):
        asked = asked.distinct()
    if having:
        asked = asked.having(_of(having.this))
    if order:
        asked = asked.order_by(*map(_ordered, order.expressions))
    if limit := node.args.get("limit"):
        offset = node.args.get("offset")
        most = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.expression
        asked = asked.limit(int(most.name), int(offset.expression.name) if offset else 0)
    return asked


def _source(node: exp.Select, names: Mapping[str, Select]) -> Select:
    clause = node.args.get("from_") or node.args.get("from")
    if clause is None:
        raise Unsaid("no FROM")
    given = clause.this
    if isinstance(given, exp.Subquery):
        if not isinstance(given.this, exp.Select):
            raise Unsaid("sub-query")
        asked = Select(source=_select(given.this, names))
    elif (
        not given.args.get("sample")
        and isinstance(given, exp.Table)
        and isinstance(given.this, exp.Identifier)
        and not given.args.get("db")
    ):
        named = names.get(given.name.casefold())
        asked = Select(source=given.name if named is None else named)
    else:
        raise Unsaid("source")
    joins = node.args.get("joins") or []
    if joins and any(each.table for each in node.find_all(exp.Column)):
        raise Unsaid("names of relations")
    for join in joins:
        _only(join, "this side using")
        if not join.args.get("using") or not isinstance(join.this, exp.Table):
            raise Unsaid("join")
        asked = asked.join(join.this.name, [each.name for each in join.args["using"]], "left" if join.side else "inner")
    return asked


def _rows(asked: Select, items: list[exp.Expr]) -> Select:
    first, *others = items
    if isinstance(first, exp.Star):
        if not others:
            return asked
        if not all(isinstance(each, exp.Alias) for each in others):
            raise Unsaid("*, and columns")
        return asked.with_columns(**_named(others))
    if any(isinstance(each, exp.Alias) for each in items[:-1]) and not all(
        isinstance(each, exp.Alias) for each in items
    ):
        raise Unsaid("columns without names behind those with names")
    return asked.select(*[_of(each) for each in items if not isinstance(each, exp.Alias)], **_named(items))


def _grouped(items: list[exp.Expr], group: exp.Group | None) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The keys, which must come first and be all that is grouped by, and the other items."""
    if group is None:
        return [], items
    forms = [*(group.args.get("rollup") or []), *(group.args.get("cube") or [])]
    if group.args.get("grouping_sets") or (forms and group.expressions) or len(forms) > 1:
        raise Unsaid("grouping sets")
    asked = forms[0].expressions if forms else group.expressions
    if group.args.get("all"):
        keys = [each for each in items if not each.find(exp.AggFunc, exp.Window)]
    else:
        keys = [_key(each, items) for each in asked]
    if [id(each) for each in keys] != [id(each) for each in items[: len(keys)]]:
        raise Unsaid("keys in another order, or not selected")
    plain = [not isinstance(each, exp.Alias) for each in keys]
    if plain != sorted(plain, reverse=True):
        raise Unsaid("keys without names behind those with names")
    return keys, items[len(keys) :]


def _key(asked: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    if isinstance(asked, exp.Literal):
        return items[int(asked.name) - 1]
    for each in items:
        meant = each.this if isinstance(each, exp.Alias) else each
        if (
            each.alias_or_name.casefold() == asked.name.casefold() != "" and isinstance(asked, exp.Column)
        ) or meant == asked:
            return each
    raise Unsaid("a key that is not selected")


def _named(items: list[exp.Expr]) -> dict[str, Expression]:
    named = {each.alias: _of(each.this) for each in items if isinstance(each, exp.Alias)}
    if len(named) != sum(isinstance(each, exp.Alias) for each in items):
        raise Unsaid("two outputs of one name")
    return named


def _ordered(node: exp.Expr) -> Ordered | Expression:
    value = _of(node.this)
    if isinstance(node.this, exp.Literal):
        raise Unsaid("ordinals of ORDER BY")
    found = value.desc() if node.args.get("desc") else value.asc()
    return found


def _of(node: exp.Expr) -> Expression:
    kind = type(node)
    if kind is exp.Trim and node.args.get("position"):
        raise Unsaid("TRIM of an end")
    if kind is exp.Pow and isinstance(node.this, exp.Pow):
        raise Unsaid("a power of a power without brackets")
    if kind in BINARY:
        return BINARY[kind](_of(node.this), _of(node.expression))
    if kind in CALLED or isinstance(node, PLAIN):
        return _call(CALLED.get(kind) or node.sql_name(), node)
    reader = OTHERS.get(kind)
    if reader is None:
        raise Unsaid(kind.__name__)
    return reader(node)


def _call(called: str, node: exp.Expr) -> Expression:
    given = []
    for value in node.args.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, exp.Array):
                given.append([float(each.name) if "." in each.name else int(each.name) for each in part.expressions])
            elif isinstance(part, exp.Distinct):
                raise Unsaid("DISTINCT")
            elif isinstance(part, exp.Expr):
                given.append(_of(part))
    return getattr(fn, called.lower())(*given)


def _literal(node: exp.Expr) -> Expression:
    if node.is_string:
        return lit(node.name)
    return lit(int(node.name) if node.name.isdigit() else float(node.name))


def _negative(node: exp.Expr) -> Expression:
    if isinstance(node.this, exp.Literal):
        return lit(-int(node.this.name) if node.this.name.isdigit() else -float(node.this.name))
    return -_of(node.this)


def _count(node: exp.Expr) -> Expression:
    if isinstance(node.this, exp.Distinct):
        if len(node.this.expressions) != 1:
            raise Unsaid("several values")
        return count_distinct(_of(node.this.expressions[0]))
    return count() if isinstance(node.this, exp.Star) else count(_of(node.this))


def _is(node: exp.Expr) -> Expression:
    if not isinstance(node.expression, exp.Null):
        raise Unsaid("IS TRUE")
    return _of(node.this).is_null()


def _in(node: exp.Expr) -> Expression:
    if not node.expressions or isinstance(node.this, exp.Tuple):
        raise Unsaid("IN of rows")
    return _of(node.this).is_in([_constant(each) for each in node.expressions])


def _constant(node: exp.Expr) -> object:
    if isinstance(node, exp.Literal):
        return node.name if node.is_string else int(node.name) if node.name.isdigit() else float(node.name)
    raise Unsaid("a constant")


def _case(node: exp.Expr) -> Expression:
    if node.this is not None:
        raise Unsaid("CASE of a value")
    first, *rest = node.args["ifs"]
    then = when(_of(first.this)).then(_of(first.args["true"]))
    for each in rest:
        then = then.when(_of(each.this)).then(_of(each.args["true"]))
    default = node.args.get("default")
    return then.end() if default is None else then.otherwise(_of(default))


def _cast(node: exp.Expr) -> Expression:
    kind = node.args["to"].this.name
    if isinstance(node.this, exp.Literal) and kind in ("DATE", "TIMESTAMP"):
        return _of(node.this).cast(kind)
    if kind not in TYPES:
        raise Unsaid(kind)
    return _of(node.this).cast(TYPES[kind])


def _filter(node: exp.Expr) -> Expression:
    return _of(node.this).where(_of(node.expression.this))


def _window(node: exp.Expr) -> Expression:
    order = node.args.get("order")
    by = [_of(each) for each in node.args.get("partition_by") or []]
    return _of(node.this).over(by, [_ordered(each) for each in order.expressions] if order else [])


def _interval(node: exp.Expr) -> Expression:
    unit = node.args.get("unit")
    if not isinstance(node.this, exp.Literal) or unit is None:
        raise Unsaid("INTERVAL of an expression")
    return interval(int(node.this.name), unit.name)


def _like(node: exp.Expr) -> Expression:
    value, pattern = _of(node.this), node.expression.name
    found = value.ilike(pattern) if isinstance(node, exp.ILike) else value.like(pattern)
    return ~found if node.args.get("negate") else found


def _truncated(node: exp.Expr) -> Expression:
    return fn.date_trunc(node.args["unit"].name.lower(), _of(node.this))


def _part(node: exp.Expr) -> Expression:
    return fn.date_part(node.this.name.lower(), _of(node.expression))


def _anonymous(node: exp.Expr) -> Expression:
    return getattr(fn, node.name)(*map(_of, node.expressions))


def _column(node: exp.Expr) -> Expression:
    if not isinstance(node.this, exp.Identifier):
        raise Unsaid("*")
    return col(node.name)


def _difference(node: exp.Expr) -> Expression:
    return fn.datediff(node.args["unit"].name.lower(), _of(node.expression), _of(node.this))


OTHERS: dict[type[exp.Expr], Callable[[Any], Expression]] = {
    exp.Paren: lambda node: _of(node.this),
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda node: lit(bool(node.this)),
    exp.Null: lambda node: lit(None),
    exp.Neg: _negative,
    exp.Not: lambda node: ~_of(node.this),
    exp.Between: lambda node: _of(node.this).between(_of(node.args["low"]), _of(node.args["high"])),
    exp.Is: _is,
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Filter: _filter,
    exp.Window: _window,
    exp.Interval: _interval,
    exp.Count: _count,
    exp.Anonymous: _anonymous,
    exp.AnonymousAggFunc: _anonymous,
    exp.DateTrunc: _truncated,
    exp.TimestampTrunc: _truncated,
    exp.Extract: _part,
    exp.DateDiff: _difference,
    exp.TimeToStr: lambda node: fn.strftime(_of(node.this), _of(node.args["format"])),
}


def _only(node: exp.Expr, names: str) -> None:
    for name, value in node.args.items():
        if value and name not in names.split():
            raise Unsaid(name)
