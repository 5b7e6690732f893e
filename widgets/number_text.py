"""`explorer.numbers.write_number` once more in JavaScript, for what the browser writes without asking Python."""

from __future__ import annotations

from bokeh.models import CustomJSTickFormatter

WRITE_NUMBER_JS = """
function write(v) {
  if (!isFinite(v)) return "–";
  const size = Math.abs(Number(v.toPrecision(4)));
  const short = (t) => t.includes(".") ? t.replace(/0+$/, "").replace(/[.]$/, "") : t;
  if (size >= 1e15 || (size > 0 && size < 1e-4)) {
    const [m, e] = v.toExponential(3).split("e");
    return short(m) + "e" + Number(e);
  }
  for (const [letter, scale] of [["T", 1e12], ["B", 1e9], ["M", 1e6]])
    if (size >= scale) return short((v / scale).toPrecision(4)) + letter;
  if (size >= 1e4) return Math.round(v).toLocaleString("en-US");
  return short(v.toPrecision(4));
}
"""


def tick_formatter() -> CustomJSTickFormatter:
    """Writes the ticks of a log axis, short enough not to run into each other: 400K, 1.4T."""
    code = f'{WRITE_NUMBER_JS}; return tick >= 1e3 && tick < 1e6 ? write(tick / 1e3) + "K" : write(tick)'
    return CustomJSTickFormatter(code=code)


def number_formatter(scale: str, start: float, step: float, zero: bool = False) -> CustomJSTickFormatter:
    """Writes what a slider that counts steps stands for; on a log scale steps of log10, perhaps after 0."""
    place = f"({start!r} + tick * {step!r})"
    value = f"Math.pow(10, {place})" if scale == "log" else place
    value = f"(tick < 0.5 ? 0 : {value})" if zero else value
    return CustomJSTickFormatter(code=f"{WRITE_NUMBER_JS}; return write({value})")
