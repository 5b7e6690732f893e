export const HEIGHT = Math.sqrt(3) / 2; // of a triangle with sides of one

/** `explorer.balance.move_weight` once more: the weights after one of them was moved. */
export function moveWeight(weights, index, value, locked = []) {
  const moved = [...weights];
  const others = weights.map((_, i) => i).filter((i) => i !== index && !locked.includes(i));
  if (locked.includes(index) || !others.length) return moved;
  const free = freeFor(weights, index, locked);
  moved[index] = Math.min(Math.max(value, 0), free);
  const total = others.reduce((sum, i) => sum + weights[i], 0);
  for (const i of others) moved[i] = (free - moved[index]) * (total > 0 ? weights[i] / total : 1 / others.length);
  return moved;
}

/** The most that an entry can take. */
export function freeFor(weights, index, locked = []) {
  return Math.max(1 - weights.reduce((sum, weight, i) => (i !== index && locked.includes(i) ? sum + weight : sum), 0), 0);
}

/** `explorer.balance.nearest_weights` once more: the mixture nearest to where a person points. */
export function nearestWeights(target, weights, locked = []) {
  const moving = weights.map((_, i) => i).filter((i) => !locked.includes(i));
  const free = Math.max(1 - weights.reduce((sum, weight, i) => (locked.includes(i) ? sum + weight : sum), 0), 0);
  let cut = 0, seen = 0;
  moving.map((i) => target[i]).sort((a, b) => b - a).forEach((value, i) => {
    seen += value;
    if (value > (seen - free) / (i + 1) || i === 0) cut = (seen - free) / (i + 1);
  });
  return weights.map((weight, i) => (locked.includes(i) ? weight : Math.max(target[i] - cut, 0)));
}

/** `explorer.simplex.to_plane` once more. */
export function toPlane([first, second, third]) {
  const total = first + second + third;
  return [(second + third / 2) / total, (third * HEIGHT) / total];
}

/** `explorer.simplex.from_plane` once more, but for what lies outside: `nearestWeights` brings it in. */
export function fromPlane(x, y) {
  const third = y / HEIGHT, second = x - third / 2;
  return [1 - second - third, second, third];
}

/** To whole hundredths that still sum to one: a pointer aims no finer. */
export function roundWeights(weights, steps = 100) {
  const counts = weights.map((weight) => Math.floor(weight * steps + 1e-9));
  const left = Math.round(steps - counts.reduce((sum, count) => sum + count, 0));
  const order = weights.map((weight, i) => [weight * steps - counts[i], i]).sort((a, b) => b[0] - a[0]);
  for (let i = 0; i < left; i += 1) counts[order[i][1]] += 1;
  return counts.map((count) => count / steps);
}

/** A weight in a narrow field: 0.0556. */
function shortly(weight) {
  return weight >= 1e-3 ? String(Number(weight.toFixed(4))) : write(weight);
}

const SIDE = 200, LEFT = 24, TOP = 26; // of the triangle, in the picture's own units
const SIMPLEX_STYLE = `
.body { display: grid; grid-template-columns: minmax(0, 1fr); gap: 4px 20px; align-items: center; margin-top: 2px; }
@container (min-width: 520px) { .body.with-triangle { grid-template-columns: minmax(200px, 260px) minmax(0, 1fr); } }
.triangle { width: 100%; max-width: 260px; display: block; justify-self: center; touch-action: none; cursor: crosshair; user-select: none; -webkit-user-select: none; }
.triangle text { fill: currentColor; font-size: 12px; }
.triangle .side { fill: var(--faint); stroke: currentColor; stroke-opacity: 0.6; stroke-linejoin: round; }
.triangle .grid { stroke: currentColor; stroke-opacity: 0.16; }
.triangle .mark { fill: none; stroke: currentColor; stroke-width: 1.8; }
.triangle .mark-name { font-size: 11px; opacity: 0.85; paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
.triangle .point { fill: var(--accent); stroke: var(--paper); stroke-width: 2; cursor: grab; outline: none; }
.triangle .halo { fill: none; stroke: none; }
.triangle .point:focus-visible + .halo { stroke: var(--accent); stroke-width: 2; }
.rows { display: grid; gap: 3px; max-width: 560px; }
.row { display: grid; grid-template-columns: var(--names, 72px) minmax(40px, 1fr) 58px 26px; gap: 8px; align-items: center; }
.row .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right; }
.row .field { width: 100%; }
.row .told { grid-column: 1 / -1; margin: 0; }
.track { position: relative; height: 24px; touch-action: pan-y; cursor: ew-resize; outline: none; border-radius: 3px; user-select: none; -webkit-user-select: none; }
.track::before { content: ""; position: absolute; inset: 9px 0; background: var(--line); border-radius: 3px; }
.fill { position: absolute; top: 7px; bottom: 7px; left: 0; width: var(--share); background: var(--accent); border-radius: 3px; pointer-events: none; }
.knob { position: absolute; top: 4px; left: var(--share); width: 6px; height: 16px; margin-left: -3px; background: var(--accent); border-radius: 3px; pointer-events: none; box-shadow: 0 0 0 1.5px var(--paper); }
.tick { position: absolute; top: 3px; bottom: 3px; width: 5px; margin-left: -2.5px; border: 1.3px solid currentColor; border-radius: 2px; pointer-events: none; }
.track:focus-visible { box-shadow: 0 0 0 2px var(--accent); }
.row.locked .fill, .row.locked .knob { background: color-mix(in srgb, currentColor 45%, transparent); }
.row.locked .track { cursor: not-allowed; }
.lock { display: grid; place-items: center; width: 26px; height: 26px; padding: 0; color: inherit; background: transparent; border: 0; border-radius: 4px; cursor: pointer; opacity: 0.55; }
.lock:hover, .lock[aria-pressed=true] { opacity: 1; }
.lock:hover { background: var(--faint); }
.lock svg { width: 15px; height: 15px; fill: none; stroke: currentColor; stroke-width: 1.8; }
.lock[aria-pressed=true] rect { fill: currentColor; }
.foot { margin-top: 6px; }
`;

function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function padlock() {
  return drawn(
    "svg", {viewBox: "0 0 16 16", "aria-hidden": "true"},
    drawn("path", {class: "shackle"}),
    drawn("rect", {x: 3, y: 7.5, width: 10, height: 7, rx: 1.5}),
  );
}

const SHACKLE = {true: "M5 7.5V5a3 3 0 0 1 6 0v2.5", false: "M5 7.5V5a3 3 0 0 1 5.8-1"};

export function render({model}) {
  const label = element("span", {class: "label"});
  const body = element("div", {class: "body"});
  const chips = element("div", {class: "chips foot"});
  const told = element("div", {class: "told", role: "alert", hidden: ""});
  const root = element(
    "div", {class: "editor"},
    element("style", {}, STYLE + SIMPLEX_STYLE),
    element("div", {class: "head"}, label), body, chips, told,
  );

  let face = {}, weights = [], locked = [];
  let rows = [], triangle = null, markPreset = () => {};
  let run = null; // moves of one entry after another start from the same weights, so that all of it can be undone
  let refused = ""; // Python's sentence, if one is shown
  const say = converse(model, hear);
  const tellPython = () => say({value: weights, locked});

  // -- what a person does ---------------------------------------------------------------------------------

  function move(index, value) {
    if (!run || run.index !== index || run.made !== weights) run = {index, base: weights};
    weights = moveWeight(run.base, index, value, locked);
    run.made = weights;
  }

  function quiet() {
    tell(told, refused = "");
    for (const row of rows) {
      tell(row.told, "");
      row.field.forget();
    }
  }

  function changed() {
    quiet();
    paint();
    tellPython();
  }

  function toggle(index) {
    locked = locked.includes(index) ? locked.filter((i) => i !== index) : [...locked, index].sort();
    run = null;
    changed();
  }

  /** Returns whether the text could be used. */
  function typed(index, text) {
    const value = readNumber(text), own = face.names[index];
    const most = locked.includes(index) ? weights[index] : freeFor(weights, index, locked);
    const alone = weights.every((_, i) => i === index || locked.includes(i));
    let fault = "";
    if (Number.isNaN(value)) fault = `“${text.trim()}” is not a weight. Write it like 0.3, 30 % or 3/10.`;
    else if (value < 0 || value > 1) fault = `${write(value)} is outside 0 to 1. Choose a value inside.`;
    else if (locked.includes(index)) fault = `${own} is locked. Unlock it to change it.`;
    else if (alone && value !== weights[index]) fault = `All others are locked. Unlock one to change ${own}.`;
    else if (value > most + 1e-9) fault = `The locked ones leave ${own} at most ${write(most)}.`;
    tell(rows[index].told, fault);
    if (fault) return false;
    run = null;
    move(index, value);
    paint();
    tellPython();
    return true;
  }

  const STEPS = {ArrowRight: 0.01, ArrowUp: 0.01, ArrowLeft: -0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1};

  function rowKey(index, event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = STEPS[event.key] * (event.shiftKey && event.key.startsWith("Arrow") ? 10 : 1);
    if (step) move(index, clean(weights[index] + step));
    else if (event.key === "Home") move(index, 0);
    else if (event.key === "End") move(index, 1);
    else return;
    event.preventDefault();
    changed();
  }

  function makeRow(own, index) {
    const fill = element("div", {class: "fill"}), knob = element("div", {class: "knob"});
    const track = element("div", {
      class: "track", role: "slider", tabindex: "0", "aria-label": own, "aria-valuemin": "0",
    }, fill, knob);
    const field = numberField((text) => typed(index, text), () => tell(rows[index].told, ""));
    field.setAttribute("aria-label", `weight of ${own}`);
    const lock = element("button", {type: "button", class: "lock"}, padlock());
    const fault = element("div", {class: "told", role: "alert", hidden: ""});
    const row = element("div", {class: "row"}, element("span", {class: "name", title: own}, own), track, field, lock, fault);
    lock.addEventListener("click", () => toggle(index));
    track.addEventListener("keydown", (event) => rowKey(index, event));
    let held = false;
    const follow = (event) => {
      const box = track.getBoundingClientRect();
      const before = weights;
      move(index, Math.round(((event.clientX - box.left) / box.width) * 100) / 100);
      if (!same(before, weights)) changed();
    };
    track.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !event.isPrimary) return;
      event.preventDefault();
      track.setPointerCapture(event.pointerId);
      track.focus({preventScroll: true});
      held = true;
      run = null;
      quiet();
      follow(event);
    });
    track.addEventListener("pointermove", (event) => { if (held) follow(event); });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
      track.addEventListener(end, () => { held = false; });
    return {row, track, field, lock, told: fault};
  }

  // -- the triangle ---------------------------------------------------------------------------------------

  const spot = (mixture) => {
    const [x, y] = toPlane(mixture);
    return [LEFT + x * SIDE, TOP + (HEIGHT - y) * SIDE];
  };

  function makeTriangle() {
    const corners = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(spot);
    const picture = drawn("svg", {class: "triangle", viewBox: `0 0 ${SIDE + 2 * LEFT} ${TOP + HEIGHT * SIDE + 24}`, role: "group", "aria-label": face.label || "mixture"});
    picture.append(drawn("polygon", {class: "side", points: corners.map((corner) => corner.join(",")).join(" ")}));
    for (let i = 0; i < 3; i += 1)
      for (const share of [0.2, 0.4, 0.6, 0.8]) {
        const ends = [(i + 1) % 3, (i + 2) % 3].map((other) => {
          const mixture = [0, 0, 0];
          mixture[i] = share;
          mixture[other] = 1 - share;
          return spot(mixture);
        });
        picture.append(drawn("line", {class: "grid", x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1]}));
      }
    const bottom = TOP + HEIGHT * SIDE + 17;
    const places = [[2, bottom, "start"], [SIDE + 2 * LEFT - 2, bottom, "end"], [LEFT + SIDE / 2, TOP - 10, "middle"]];
    face.names.forEach((own, i) => {
      const [x, y, anchor] = places[i];
      const short = own.length > 17 ? `${own.slice(0, 16)}…` : own;
      picture.append(drawn("text", {x, y, "text-anchor": anchor}, short));
    });
    const marks = drawn("g");
    const point = drawn("circle", {
      class: "point", r: 8, tabindex: "0", role: "application", "aria-roledescription": "point in a triangle",
    });
    const halo = drawn("circle", {class: "halo", r: 13});
    picture.append(marks, point, halo);

    let held = false;
    const follow = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
      const aimed = fromPlane((at.x - LEFT) / SIDE, HEIGHT - (at.y - TOP) / SIDE);
      const near = nearestWeights(aimed, weights, locked), before = weights;
      weights = locked.length ? near : roundWeights(near);
      run = null;
      if (!same(before, weights)) changed();
    };
    picture.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !event.isPrimary) return;
      event.preventDefault();
      picture.setPointerCapture(event.pointerId);
      point.focus({preventScroll: true});
      held = true;
      quiet();
      follow(event);
    });
    picture.addEventListener("pointermove", (event) => { if (held) follow(event); });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
      picture.addEventListener(end, () => { held = false; });
    const towards = {ArrowLeft: [0, 1], ArrowRight: [1, 1], ArrowUp: [2, 1], ArrowDown: [2, -1]};
    point.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in towards)) return;
      const [corner, sign] = towards[event.key];
      move(corner, clean(weights[corner] + sign * (event.shiftKey ? 0.1 : 0.01)));
      event.preventDefault();
      changed();
    });
    return {picture, marks, point, halo};
  }

  /** The hollow points: in the triangle, and on every bar. */
  function drawMarks() {
    const all = Object.entries(face.marks);
    triangle?.marks.replaceChildren(...all.flatMap(([name, mixture]) => {
      const [x, y] = spot(mixture), right = x < LEFT + SIDE * 0.62;
      return [
        drawn("circle", {class: "mark", cx: x, cy: y, r: 5.5}, drawn("title", {}, name)),
        drawn("text", {class: "mark-name", x: x + (right ? 10 : -10), y: y + 4, "text-anchor": right ? "start" : "end"}, name),
      ];
    }));
    rows.forEach(({track}, i) => {
      for (const old of track.querySelectorAll(".tick")) old.remove();
      for (const [name, mixture] of all)
        track.append(element("div", {class: "tick", title: name, style: `left: ${mixture[i] * 100}%`}));
    });
  }

  function offerPresets() {
    markPreset = presetButtons(chips, face.presets, (preset) => {
      weights = [...preset];
      run = null;
      changed();
    });
  }

  // -- what is shown --------------------------------------------------------------------------------------

  function paint() {
    weights.forEach((weight, i) => {
      const {row, track, field, lock} = rows[i], shut = locked.includes(i), own = face.names[i];
      track.style.setProperty("--share", `${(weight * 100).toFixed(2)}%`);
      track.setAttribute("aria-valuenow", String(weight));
      track.setAttribute("aria-valuetext", shortly(weight));
      track.setAttribute("aria-valuemax", String(clean(shut ? weight : freeFor(weights, i, locked))));
      track.setAttribute("aria-disabled", String(shut));
      row.classList.toggle("locked", shut);
      field.show(shortly(weight));
      field.readOnly = shut;
      lock.setAttribute("aria-pressed", String(shut));
      lock.setAttribute("aria-label", `lock ${own}`);
      lock.title = shut ? `unlock ${own}` : `lock ${own}: it stays while others move`;
      lock.querySelector("path").setAttribute("d", SHACKLE[shut]);
    });
    if (triangle) {
      const [x, y] = spot(weights);
      for (const circle of [triangle.point, triangle.halo]) {
        circle.setAttribute("cx", x.toFixed(2));
        circle.setAttribute("cy", y.toFixed(2));
      }
      triangle.point.setAttribute(
        "aria-label", face.names.map((own, i) => `${own} ${shortly(weights[i])}`).join(", ") + ". Arrow keys move it.",
      );
    }
    markPreset(weights);
  }

  function build() {
    label.textContent = face.label;
    label.parentElement.hidden = !face.label;
    rows = face.names.map(makeRow);
    triangle = face.names.length === 3 ? makeTriangle() : null;
    const list = element("div", {class: "rows", role: "group", "aria-label": face.label || "weights"}, ...rows.map(({row}) => row));
    const longest = Math.max(...face.names.map((own) => own.length)) * 6.9 + 4;
    list.style.setProperty("--names", `min(${Math.round(longest)}px, 32%)`);
    body.replaceChildren(...(triangle ? [triangle.picture] : []), list);
    body.classList.toggle("with-triangle", Boolean(triangle));
    run = null;
  }

  let built = "", offering = "", marking = "";
  function hear(now, newer) {
    const shape = JSON.stringify([now.names, now.label]), rebuilt = shape !== built;
    const offered = JSON.stringify(now.presets), marked = JSON.stringify(now.marks);
    face = now;
    if (!newer || rebuilt) {
      if (!same(weights, now.value) || String(now.locked) !== String(locked)) run = null;
      if (run && run.made === weights) run.made = now.value;
      weights = now.value;
      locked = now.locked;
    }
    if (rebuilt) {
      built = shape;
      const focused = rows.findIndex(({row}) => row.contains(root.getRootNode().activeElement));
      build();
      rows[focused]?.track.focus({preventScroll: true});
    }
    if (rebuilt || marked !== marking) drawMarks();
    if (offered !== offering) offerPresets();
    [offering, marking] = [offered, marked];
    if (now.error !== refused) tell(told, refused = now.error);
    paint();
    return !rebuilt;
  }

  hear(model.face, false);
  return root;
}
