"""A tree as the source of a JavaScript function, the numbers of which equal numpy's but for the last digits."""

from __future__ import annotations

import json
from collections.abc import Sequence

from explorer.laws.program import Program
from explorer.laws.tree import Tree

_FUNCTION = """(inputs) => {{
  const power = (x, y) =>
    x === 1 || (x === -1 && (y === Infinity || y === -Infinity)) ? 1 : Math.pow(x, y);
  const names = {names};
  const lengths = new Set();
  for (const name of names) {{
    if (!Object.hasOwn(inputs, name)) throw new Error("missing input " + name);
    if (typeof inputs[name] !== "number") lengths.add(inputs[name].length);
  }}
  if (lengths.size > 1) throw new Error("inputs of lengths " + [...lengths].join(", "));
  const [length] = lengths.size ? lengths : [1];
  const columns = names.map((name) => {{
    const value = inputs[name];
    if (typeof value === "number") return new Float64Array(length).fill(value);
    return Float64Array.from(value, (x) => (x === null ? NaN : x));
  }});
  const result = new Float64Array(length);
  for (let i = 0; i < length; i++) {{
    {statements}
    result[i] = {result};
  }}
  return result;
}}"""


def source(tree: Tree, names: Sequence[str]) -> str:
    """The source of a function expression `(inputs) => Float64Array`, pure and without outside names.

    `inputs` is an object with a number or an array of numbers for every one of `names`; arrays have one
    length, which is the result's (1 if all are numbers). It throws where an input is missing or arrays differ
    in length. Names stand in the source only as quoted keys: what is computed is called a0, a1, ...
    """
    program = Program([tree], names)
    reads = [f"const a{k} = columns[{k}][i];" for k in range(len(names))]
    return _FUNCTION.format(
        names=json.dumps(list(names)),
        statements="\n    ".join([*reads, *program.javascript("a{}".format)]),
        result=f"a{program.results[0]}",
    )
