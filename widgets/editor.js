// What both editors share: typed numbers, one conversation with Python, the look of their parts.
// No imports: it works without a network.

/** The number in a text: 0.2, 20 %, 3/10, 2e-3, 1.4T; NaN if there is none. */
export function readNumber(text) {
  let plain = text.trim().replaceAll("_", "").replace("−", "-");
  if (plain.endsWith("%")) return readNumber(plain.slice(0, -1)) / 100;
  const parts = plain.split("/");
  if (parts.length === 2) {
    const quotient = readNumber(parts[0]) / readNumber(parts[1]);
    return Number.isFinite(quotient) ? quotient : NaN;
  }
  if (/^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain)) plain = plain.replaceAll(",", "");
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([kmbgt]?)$/i.exec(plain);
  if (!match) return NaN;
  const scale = {k: 1e3, m: 1e6, b: 1e9, g: 1e9, t: 1e12}[match[2].toLowerCase()] ?? 1;
  const value = Number(match[1]) * scale;
  return Number.isFinite(value) ? value : NaN;
}

/** Without the noise of binary fractions: 0.3, not 0.30000000000000004. */
export function clean(value) {
  return Number(value.toPrecision(12));
}

export function same(one, other) {
  return one.length === other.length && one.every((value, i) => Math.abs(value - other[i]) <= 1e-9 * Math.max(1, Math.abs(value)));
}

/**
 * Speak with Python: at most one message is under way; what changes meanwhile is said, once, after the answer.
 *
 * `hear(face, newer)` shows what Python says. `newer` is true if the person has gone on meanwhile; then it returns
 * whether that still holds and is to be said.
 */
function converse(model, hear) {
  const who = Math.random().toString(36).slice(2);
  let count = 0, waiting = false, unsaid = null, patience = 0;
  const say = (words) => {
    if (waiting) {
      unsaid = words;
      return;
    }
    waiting = true;
    unsaid = null;
    count += 1;
    clearTimeout(patience);
    patience = setTimeout(goOn, 3000); // no answer: the server is gone or very slow
    model.said = {who, count, ...words};
  };
  const goOn = () => {
    clearTimeout(patience);
    waiting = false;
    const next = unsaid;
    unsaid = null;
    const holds = hear(model.face, next !== null);
    if (next !== null && holds) say(next);
  };
  model.on("face", () => {
    const [asker, answered] = model.face.answer;
    // While an answer is due, anything else is out of date: the answer will say it again.
    if (!waiting || (asker === who && answered === count)) goOn();
  });
  return say;
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/**
 * A text field that applies on Enter or when it is left, and on Escape shows again what stands.
 *
 * `apply(text)` returns whether the text could be used; one that could not stays to be corrected.
 */
function numberField(apply, givenUp) {
  const field = element("input", {type: "text", class: "field", autocomplete: "off", spellcheck: "false"});
  let shown = "", typing = false;
  const judge = (good) => field.setAttribute("aria-invalid", String(!good));
  const tryIt = () => {
    if (!typing) return;
    typing = false;
    const good = apply(field.value);
    judge(good);
    if (good) field.value = shown;
    else typing = true;
  };
  field.forget = () => {
    typing = false;
    field.value = shown;
    judge(true);
  };
  field.show = (text) => {
    shown = text;
    if (!typing && field.value !== text) field.value = text;
  };
  field.addEventListener("input", () => { typing = true; });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") tryIt();
    if (event.key === "Escape") {
      field.forget();
      givenUp();
    }
  });
  field.addEventListener("blur", tryIt);
  field.addEventListener("focus", () => field.select());
  return field;
}

/** Shows one sentence, or nothing, in a place that screen readers announce. */
function tell(place, sentence) {
  if (place.textContent !== sentence) place.textContent = sentence;
  place.hidden = !sentence;
}

/** A button for each preset; the one that stands is marked. */
function presetButtons(place, presets, choose) {
  const buttons = Object.entries(presets).map(([name, values]) => {
    const button = element("button", {type: "button", class: "chip"}, name);
    button.addEventListener("click", () => choose(values));
    return [button, values];
  });
  place.replaceChildren(...buttons.map(([button]) => button));
  place.hidden = !buttons.length;
  return (now) => {
    for (const [button, values] of buttons) button.setAttribute("aria-pressed", String(same(values, now)));
  };
}

const STYLE = `
:host { display: block; }
.editor {
  /* A little of the text's colour: darker on white, lighter on black. */
  --accent: color-mix(in srgb, var(--mui-palette-primary-main, var(--panel-primary-color, #0072B2)) 85%, currentColor);
  --line: color-mix(in srgb, currentColor 22%, transparent);
  --faint: color-mix(in srgb, currentColor 10%, transparent);
  --paper: var(--mui-palette-background-paper, var(--panel-background-color, Canvas));
  --wrong: var(--mui-palette-error-main, #A63F00);
  box-sizing: border-box; width: 100%; padding: 2px 8px 6px; font-size: 13px; line-height: 1.35;
  color: inherit; font-family: inherit; container-type: inline-size;
}
.editor *, .editor *::before { box-sizing: border-box; }
.editor [hidden] { display: none !important; }
.head { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: center; min-height: 22px; }
.label { font-size: 14px; }
.quiet { opacity: 0.75; font-variant-numeric: tabular-nums; }
.field {
  font: inherit; font-variant-numeric: tabular-nums; color: inherit; background: transparent; width: 74px;
  padding: 2px 4px; border: 0; border-bottom: 1px solid color-mix(in srgb, currentColor 45%, transparent);
  border-radius: 2px 2px 0 0;
}
.field:hover { border-bottom-color: currentColor; }
.field:focus { outline: 2px solid var(--accent); outline-offset: 1px; }
.field[aria-invalid=true] { border-bottom-color: var(--wrong); }
.told { color: var(--wrong); margin-top: 2px; font-size: 12.5px; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; }
.chip {
  font: inherit; font-size: 12.5px; color: inherit; background: transparent; cursor: pointer;
  border: 1px solid var(--line); border-radius: 12px; padding: 2px 10px; max-width: 100%;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
}
.chip:hover { background: var(--faint); }
.chip[aria-pressed=true] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.chip:focus-visible, .lock:focus-visible, .switch input:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.switch { display: inline-flex; gap: 5px; align-items: center; cursor: pointer; }
.switch input { accent-color: var(--accent); margin: 0; width: 15px; height: 15px; cursor: inherit; }
`;
