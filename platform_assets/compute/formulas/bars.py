"""Facts about a formula before it is evaluated: bars, work, what is a condition.

`variables` are the statements before, by name. What they say of themselves is taken as it is: names within
names would double the work at every step.
"""

from collections.abc import Mapping

from platform_assets.compute.formulas import tree
from platform_assets.compute.formulas.functions import FUNCTIONS
from platform_assets.compute.language import children, memory_bars, recursion_bars, remembered, steps, walk

Variables = Mapping[str, tree.Statement]
_CONDITIONS = frozenset({">", ">=", "<", "<=", "=", "<>", "and", "or", "not"})


def is_condition(node: tree.Node, variables: Variables) -> bool:
    """Whether its values are true, false or unknown."""
    match node:
        case tree.Variable():
            return variables[node.name].is_condition
        case tree.Binary() | tree.Unary():
            return node.sign in _CONDITIONS
        case tree.Call(function="IF"):
            return all(is_condition(one, variables) for one in node.arguments[1:])
        case tree.Call():
            return FUNCTIONS[node.function].is_condition
        case _:
            return False


def constant(node: tree.Node, variables: Variables) -> float | None:
    """The number at this place, or that a name was given; None for anything else."""
    match node:
        case tree.Number():
            return node.value
        case tree.Variable():
            return constant(variables[node.name].value, variables)
        case tree.Unary(sign="-"):
            value = constant(node.operand, variables)
            return None if value is None else -value
        case _:
            return None


def whole_bars(node: tree.Node, variables: Variables) -> bool:
    """BARSLAST(...), or that plus a whole number that is not negative."""
    match node:
        case tree.Call(function="BARSLAST"):
            return True
        case tree.Variable():
            return whole_bars(variables[node.name].value, variables)
        case tree.Binary(sign="+"):
            more = constant(node.right, variables)
            return more is not None and more >= 0 and more == int(more) and whole_bars(node.left, variables)
        case _:
            return False


def bars_needed(node: tree.Node, variables: Variables) -> int:
    """Bars behind one value, the newest included."""
    if isinstance(node, tree.Variable):
        return variables[node.name].bars
    inner = max((bars_needed(child, variables) for child in children(node)), default=1)
    if not isinstance(node, tree.Call):
        return inner
    if FUNCTIONS[node.function].remembers:
        return remembered(inner, _memory(node, variables))
    period = _period(node, variables)
    if node.function in {"REF", "LONGCROSS"}:
        return inner + period
    if node.function == "CROSS":
        return inner + 1
    return inner + max(period - 1, 0)


def _period(call: tree.Call, variables: Variables) -> int:
    """Bars of its window; those of a moving one are counted with its BARSLAST."""
    for kind, argument in zip(FUNCTIONS[call.function].takes, call.arguments, strict=True):
        if kind in "ndr":
            return int(constant(argument, variables) or 0)
    return 0


def _memory(call: tree.Call, variables: Variables) -> int:
    """Bars that something with a memory runs before its value."""
    period = _period(call, variables)
    if call.function == "SMA":
        return recursion_bars(2 * period / (constant(call.arguments[2], variables) or 1.0))
    return recursion_bars(period) if call.function == "EMA" else memory_bars(period)


def work(formula: tree.Formula) -> int:
    """Passes over one bar of all stocks that its value takes; a named value counts once."""
    variables = formula.variables
    reached: set[str] = set()
    todo = [formula.result.value]
    total = 0
    while todo:
        for node in walk(todo.pop()):
            if isinstance(node, tree.Variable) and node.name not in reached:
                reached.add(node.name)
                todo.append(variables[node.name].value)
            if isinstance(node, tree.Call):
                total += steps(node.function.lower(), max(1, _period(node, variables)))
            elif isinstance(node, tree.Binary | tree.Unary):
                total += 1
    return total * formula.result.bars


def columns_needed(formula: tree.Formula) -> tuple[str, ...]:
    """Columns of the bars that a formula reads."""
    found = [
        node.column for one in formula.statements for node in walk(one.value) if isinstance(node, tree.Series)
    ]
    return tuple(dict.fromkeys(found))
