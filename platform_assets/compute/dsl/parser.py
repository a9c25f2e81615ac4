"""Text of a query to its tree: recursive descent over one grammar, without going back.

A parenthesis may hold a condition or arithmetic; both are read by the same rules, and what came out decides
what may follow. The grammar is in `docs/calculations/dsl.md`.
"""

from collections.abc import Callable
from typing import NoReturn

from platform_assets.compute.dsl import checks, tree
from platform_assets.compute.dsl.checks import is_condition, kind_of
from platform_assets.compute.dsl.values import NUMERIC_START, Values, operators
from platform_assets.compute.dsl.words import COMPARISONS, alphabet
from platform_assets.compute.dsl.written import written
from platform_assets.compute.language import END, LanguageError, Token, tokens_of
from platform_assets.compute.parameters.screener import MAX_CHARS, MAX_LIMIT, MAX_LIST, MAX_WORK

_START = ("field", "number", "function", "(", "not")


def parse(text: str) -> tree.Query:
    """The tree of a query. Raises LanguageError."""
    query = _Parser(text).query()
    length = len(written(query))
    if length > MAX_CHARS:
        message = f"written out it has {length} characters; at most {MAX_CHARS} are allowed"
        raise LanguageError("limit", message, text=text, position=len(text))
    if checks.work(query.where) > MAX_WORK:
        message = "its functions over history are more work than one query may be"
        raise LanguageError("limit", message, text=text, position=0)
    return query


class _Parser(Values):
    def __init__(self, text: str) -> None:
        super().__init__(text, tokens_of(text, alphabet()))

    # -- query --------------------------------------------------------------------------------------

    def query(self) -> tree.Query:
        where = self._condition(self._or(inner=False))
        order: list[tree.Order] = []
        if self.accept("order"):
            self.expect("by")
            order.append(self._order())
            while self.accept(","):
                order.append(self._order())
        limit = self._limit() if self.accept("limit") else None
        if self.now.kind != "end":
            before = ("asc", "desc", ",") if order else ("and", "or", "order by")
            self.unexpected(*(() if limit is not None else (*before, "limit")), END)
        return tree.Query(where, tuple(order), limit)

    def _order(self) -> tree.Order:
        token = self.now
        field = self._field()
        descending = self.accept("desc") is not None
        if not descending:
            self.accept("asc")
        return tree.Order(field.name, descending, at=token.at)

    def _limit(self) -> int:
        token = self.now
        if token.kind != "number":
            self.unexpected("number")
        return self._whole(token, 1, MAX_LIMIT, "limit")

    # -- conditions ---------------------------------------------------------------------------------
    # `inner`: between parentheses or in an argument, where arithmetic is allowed without a comparison.

    def _or(self, *, inner: bool) -> tree.Node:
        return self._joined("or", tree.Or, self._and, inner=inner)

    def _and(self, *, inner: bool) -> tree.Node:
        return self._joined("and", tree.And, self._not, inner=inner)

    def _joined(
        self, word: str, kind: type[tree.Or | tree.And], part: Callable[..., tree.Node], *, inner: bool
    ) -> tree.Node:
        start = self.now
        first = part(inner=inner)
        others: list[tree.Condition] = []
        while self.accept(word):
            others.append(self._condition(part(inner=False)))
        return self.made(kind((self._condition(first), *others), at=start.at)) if others else first

    def _not(self, *, inner: bool) -> tree.Node:
        token = self.accept("not")
        if token is None:
            return self._predicate(inner=inner)
        with self.deeper(token):
            return self.made(tree.Not(self._condition(self._not(inner=False)), at=token.at))

    def _condition(self, node: tree.Node) -> tree.Condition:
        assert isinstance(node, tree.CONDITIONS)  # noqa: S101  `inner=False` lets nothing else through
        return node

    def _predicate(self, *, inner: bool) -> tree.Node:
        start = self.now
        left = self._sum(_START)
        token = self.now
        if self.means(token, "between", *COMPARISONS):
            self.take()
            self._value(left, start)
            return self._between(left, token) if self.means(token, "between") else self._compare(left, token)
        negated = self.means(token, "not") and self.means(self.after(), "in")
        if negated or self.means(token, "in"):
            return self._in(self._bare(left, token), start, negated=negated)
        if self.accept("like"):
            return self._like(self._bare(left, token))
        if self.accept("is"):
            missing = not self.accept("not")
            self.expect("null")
            return self.made(tree.IsNull(self._bare(left, token), not missing, at=start.at))
        return self._alone(left, token, inner=inner)

    def _alone(self, left: tree.Node, token: Token, *, inner: bool) -> tree.Node:
        """Something without an operator behind it."""
        if isinstance(left, tree.Field) and kind_of(left) == "flag":
            return self.made(tree.Flag(left, at=left.at))
        if is_condition(left) or (inner and (token.text in {")", ","} and token.kind == "sign")):
            return left
        return self.unexpected(*operators(left), *((")",) if inner else ()))

    def _compare(self, left: tree.Node, token: Token) -> tree.Compare:
        sign = self.meaning(token)
        is_text = kind_of(left) == "text"
        if is_text and sign not in {"=", "!="}:
            self._no_text(token)
        right = self._operand("text" if is_text else "number")
        checks.units_agree(self, left, right)
        return self.made(tree.Compare(sign, left, right, at=token.at))  # type: ignore[arg-type]

    def _between(self, value: tree.Node, token: Token) -> tree.Between:
        if kind_of(value) == "text":
            self._no_text(token)
        low = self._operand("number")
        self.expect("and")
        high = self._operand("number")
        for bound in (low, high):
            checks.units_agree(self, value, bound)
        return self.made(tree.Between(value, low, high, at=token.at))  # type: ignore[arg-type]

    def _no_text(self, token: Token) -> NoReturn:
        expected = ("=", "!=", "in", "like")
        self.fail("type", "a text is compared with = or != alone", token, expected=expected)

    def _operand(self, kind: str) -> tree.Node:
        """The right side of a comparison: a value of the kind of the left side."""
        start = self.now
        expected = ("string", "field") if kind == "text" else NUMERIC_START
        node = self._sum(expected)
        if kind_of(node) != kind:
            self.fail("type", f"a {kind} is compared with a {kind_of(node)}", start, expected=expected)
        return node

    def _in(self, field: tree.Field, start: Token, *, negated: bool) -> tree.In:
        if negated:
            self.take()
        self.take()
        kind = kind_of(field)
        if kind == "flag":
            self.fail("type", "true or false is in no list", start)
        self.expect("(")
        values = [self._literal(field, kind)]
        while self.accept(","):
            if len(values) == MAX_LIST:
                self.fail("limit", f"more than {MAX_LIST} values in a list", self.now)
            values.append(self._literal(field, kind))
        if not self.accept(")"):
            self.unexpected(",", ")")
        return self.made(tree.In(field, tuple(values), negated, at=start.at))

    def _literal(self, field: tree.Field, kind: str) -> tree.Number | tree.Text:
        requested = "string" if kind == "text" else "number"
        start = self.now
        sign = self.accept("-") if kind == "number" else None
        token = self.now
        if token.kind in {"string", "number"} and token.kind != requested:
            self.fail("type", f"a list of {kind}s", token, expected=[requested])
        if token.kind != requested:
            self.unexpected(requested)
        self.take()
        if kind == "text":
            return tree.Text(token.text, at=token.at)
        minus = "-" if sign is not None and token.text != "0" else ""
        value = tree.Number(minus + token.text, token.unit, at=start.at)
        checks.units_agree(self, field, value)
        return value

    def _like(self, field: tree.Field) -> tree.Like:
        if kind_of(field) != "text":
            self.fail("type", "like compares texts", field.at, expected=["text field"])
        token = self.now
        if token.kind != "string":
            self.unexpected("string")
        self.take()
        return self.made(tree.Like(field, token.text, at=field.at))

    def _bare(self, node: tree.Node, token: Token) -> tree.Field:
        if not isinstance(node, tree.Field):
            self.fail("type", f"{self.meaning(token)} follows the name of a field", token)
        return node
