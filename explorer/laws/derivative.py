"""The exact derivative of a tree, as a tree, with what is zero, one or cancels left out.

It is written so that it shares its costly parts with the formula: the derivative of N^a holds N^a itself.
Where min, max or abs have a corner it is that of the first side (of +x for abs); at x = 0, the derivative
of x^a by a coefficient in both x and a is NaN.
"""

from __future__ import annotations

import math

from explorer.laws.tree import Binary, Call, Name, Number, Tree, Unary

ZERO, ONE = Number(0.0), Number(1.0)


def derivative(tree: Tree, name: str) -> Tree:
    """d tree / d name."""
    match tree:
        case Name(each) if each == name:
            return ONE
        case Unary(operand):
            return negative(derivative(operand, name))
        case Binary(operator, left, right):
            return _of_binary(tree, operator, left, right, name)
        case Call("min" | "max" | "choose"):
            return _of_choice(tree, name)
        case Call(function, (x,)):
            inner = derivative(x, name)
            return ZERO if inner == ZERO else multiply(_outer(tree, function, x), inner)
    return ZERO


def _of_binary(tree: Tree, operator: str, x: Tree, y: Tree, name: str) -> Tree:
    dx, dy = derivative(x, name), derivative(y, name)
    match operator:
        case "+":
            return add(dx, dy)
        case "-":
            return subtract(dx, dy)
        case "*":
            return add(multiply(dx, y), multiply(x, dy))
        case "/":
            return subtract(divide(dx, y), multiply(tree, divide(dy, y)))
    if isinstance(y, Number):
        return multiply(multiply(y, power(x, Number(y.value - 1))), dx)
    by_exponent = ZERO if dy == ZERO else multiply(Call("log", (x,)), dy)
    return multiply(tree, add(by_exponent, multiply(y, divide(dx, x))))


def _of_choice(tree: Call, name: str) -> Tree:
    if tree.function == "choose":
        x, y, first, second = tree.arguments
        return _choose(x, y, derivative(first, name), derivative(second, name))
    best, slope = tree.arguments[0], derivative(tree.arguments[0], name)
    for each in tree.arguments[1:]:
        sides = (best, each) if tree.function == "min" else (each, best)
        slope = _choose(*sides, slope, derivative(each, name))
        best = Call(tree.function, (best, each))
    return slope


def _choose(x: Tree, y: Tree, first: Tree, second: Tree) -> Tree:
    return first if first == second else Call("choose", (x, y, first, second))


def _outer(tree: Tree, function: str, x: Tree) -> Tree:
    """The derivative of the function itself at x."""
    match function:
        case "exp":
            return tree
        case "log":
            return divide(ONE, x)
        case "log10" | "log2":
            return divide(Number(1 / math.log(10 if function == "log10" else 2)), x)
        case "sqrt":
            return divide(Number(0.5), tree)
        case "tanh":
            return subtract(ONE, multiply(tree, tree))
    return Call("choose", (ZERO, x, ONE, Number(-1.0)))  # abs


def negative(x: Tree) -> Tree:
    """-x."""
    match x:
        case Number(value):
            return Number(0.0 - value)
        case Unary(operand):
            return operand
    return Unary(x)


def add(x: Tree, y: Tree) -> Tree:
    """x + y."""
    match x, y:
        case (Number(0.0), _):
            return y
        case (_, Number(0.0)):
            return x
        case (_, Unary(operand)):
            return subtract(x, operand)
    return Binary("+", x, y)


def subtract(x: Tree, y: Tree) -> Tree:
    """x - y."""
    match x, y:
        case (_, Number(0.0)):
            return x
        case (Number(0.0), _):
            return negative(y)
        case (_, Unary(operand)):
            return add(x, operand)
    return Binary("-", x, y)


def multiply(x: Tree, y: Tree) -> Tree:
    """x y."""
    match x, y:
        case (Number(0.0), _) | (_, Number(0.0)):
            return ZERO
        case (Number(1.0), _):
            return y
        case (_, Number(1.0)):
            return x
        case (Number(a), Number(b)) if math.isfinite(a * b):
            return Number(a * b)
        case (Unary(operand), _):
            return negative(multiply(operand, y))
        case (_, Unary(operand)):
            return negative(multiply(x, operand))
        case (_, Binary("/", Number(1.0), below)):
            return divide(x, below)
    return Binary("*", x, y)


def divide(x: Tree, y: Tree) -> Tree:
    """x / y."""
    match x, y:
        case (Number(0.0), _):
            return ZERO
        case (_, Number(1.0)):
            return x
        case (Unary(operand), _):
            return negative(divide(operand, y))
        case (Binary("*", left, right), _) if left == y:
            return right
        case (Binary("*", left, right), _) if right == y:
            return left
        case (Binary("*", left, right), _):  # the share of a term in the loss is needed elsewhere too
            return multiply(divide(left, y), right)
    return ONE if x == y else Binary("/", x, y)


def power(x: Tree, y: Number) -> Tree:
    """x^y."""
    return ONE if y.value == 0 else x if y.value == 1 else Binary("^", x, y)
