/** `explorer.balance.move_entry` once more: the values after one of them was moved. */
export function moveEntry(values, index, value, low, high, holdMean) {
  const moved = [...values];
  value = Math.min(Math.max(value, low), high);
  if (!holdMean) {
    moved[index] = value;
    return moved;
  }
  const wanted = value - values[index];
  const room = values.map((entry, i) => (i === index ? 0 : wanted > 0 ? entry - low : high - entry));
  const total = room.reduce((sum, free) => sum + free, 0);
  if (total <= 0) return moved;
  const part = Math.min(Math.abs(wanted) / total, 1);
  const sign = wanted > 0 ? 1 : -1;
  const bounded = (entry) => Math.min(Math.max(entry, low), high);
  values.forEach((entry, i) => {
    if (i !== index) moved[i] = bounded(entry - sign * part * room[i]);
  });
  moved[index] = part < 1 ? value : bounded(values[index] + sign * total);
  return moved;
}

/** The largest of 1, 2, 5 times a power of ten that goes a hundred times into the range. */
function roundStep(range) {
  const power = 10 ** Math.floor(Math.log10(range / 100) + 1e-9);
  return clean(power * ([5, 2].find((factor) => factor * power * 100 <= range * (1 + 1e-9)) ?? 1));
}

const BAR_STYLE = `
.stage { display: grid; grid-template-columns: auto minmax(0, 1fr); column-gap: 5px; margin-top: 4px; }
.scale { display: flex; flex-direction: column; justify-content: space-between; text-align: right; font-size: 11px; line-height: 1; }
.bars {
  position: relative; display: flex; height: 132px; touch-action: none; cursor: ns-resize; user-select: none;
  -webkit-user-select: none; border-bottom: 1px solid var(--line);
  background: linear-gradient(var(--line) 0 1px, transparent 1px);
}
.bar { position: relative; flex: 1 1 0; min-width: 0; outline: none; border-radius: 2px; }
.bar::after {
  content: ""; position: absolute; bottom: 0; left: var(--gap); right: var(--gap); height: var(--height);
  min-height: 2px; background: color-mix(in srgb, var(--accent) 70%, transparent);
  border-top: 2px solid var(--accent); border-radius: 2px 2px 0 0;
}
.bar:hover { background: var(--faint); }
.bar.chosen::after { background: var(--accent); }
.bar:focus-visible { box-shadow: 0 0 0 2px var(--accent); z-index: 1; }
.mean-line {
  position: absolute; left: 0; right: 0; height: 0; pointer-events: none;
  border-top: 1.5px dashed color-mix(in srgb, currentColor 70%, transparent);
}
.names { grid-column: 2; display: flex; font-size: 11px; padding-top: 3px; }
.names span { flex: 1 1 0; min-width: 0; text-align: center; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.names.few span { overflow: visible; width: 0; display: flex; justify-content: center; }
.names.upright span { max-height: 100px; writing-mode: vertical-rl; transform: rotate(180deg); text-align: end; line-height: var(--pitch); }
.names .chosen { font-weight: 700; }
.foot { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: baseline; margin-top: 6px; }
.entry { display: inline-flex; gap: 6px; align-items: baseline; max-width: 100%; }
.entry .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600; }
`;

export function render({model}) {
  const label = element("span", {class: "label"});
  const mean = element("span", {class: "quiet mean"});
  const held = element("input", {type: "checkbox", role: "switch"});
  const holder = element("label", {class: "switch"}, held, "hold the mean");
  const top = element("span"), bottom = element("span");
  const bars = element("div", {class: "bars", role: "group"});
  const meanLine = element("div", {class: "mean-line"});
  const names = element("div", {class: "names", "aria-hidden": "true"});
  const name = element("span", {class: "name"});
  const unit = element("span", {class: "quiet"});
  const field = numberField(typed, () => tell(told, ""));
  const chips = element("div", {class: "chips"});
  const told = element("div", {class: "told", role: "alert", hidden: ""});
  const root = element(
    "div", {class: "editor"},
    element("style", {}, STYLE + BAR_STYLE),
    element("div", {class: "head"}, label, mean, holder),
    element("div", {class: "stage"}, element("div", {class: "scale quiet"}, top, bottom), bars, names),
    element("div", {class: "foot"}, element("label", {class: "entry"}, name, field, unit), chips),
    told,
  );

  let face = {}, values = [], hold = null, chosen = 0;
  let columns = [], captions = [], markPreset = () => {};
  let refused = ""; // Python's sentence, if that is what is shown
  let drag = null; // while a pointer is down: where it was last, and what stood when it came to this bar
  let run = null; // moves of one bar after another start from the same values, so that all of it can be undone
  const say = converse(model, hear);
  const tellPython = () => say({value: values, hold_mean: hold});

  // -- places and values ----------------------------------------------------------------------------------

  const log = () => face.scale === "log";
  const height = (value) => {
    const {low, high} = face;
    const share = log() ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return Math.min(Math.max(share, 0), 1);
  };
  const bounded = (value) => Math.min(Math.max(value, face.low), face.high);
  const step = () => face.step ?? roundStep(face.high - face.low);
  const at = (share) => {
    const {low, high} = face;
    if (share <= 0 || share >= 1) return share <= 0 ? low : high;
    if (log()) return bounded(Number((low * (high / low) ** share).toPrecision(3)));
    return bounded(clean(low + Math.round(((high - low) * share) / step()) * step()));
  };
  const stepped = (value, steps) => {
    if (!log()) return bounded(clean(value + steps * step()));
    return bounded(Number((value * (face.high / face.low) ** (steps / 100)).toPrecision(4)));
  };

  // -- what a person does ---------------------------------------------------------------------------------

  /** Move one bar; with the mean held, from what stood before the moves of this bar began. */
  function move(index, value) {
    if (!run || run.index !== index || run.made !== values) run = {index, base: values};
    values = moveEntry(run.base, index, value, face.low, face.high, hold === true);
    run.made = values;
  }

  function changed() {
    tell(told, refused = "");
    field.forget();
    paint();
    tellPython();
  }

  function place(event) {
    const box = bars.getBoundingClientRect();
    const across = Math.floor(((event.clientX - box.left) / box.width) * values.length);
    return {
      index: Math.min(Math.max(across, 0), values.length - 1),
      share: 1 - (event.clientY - box.top) / box.height,
    };
  }

  bars.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    event.preventDefault(); // no selection of text, no focus on what lies under
    bars.setPointerCapture(event.pointerId);
    drag = place(event);
    run = null;
    choose(drag.index, true);
    move(drag.index, at(drag.share));
    changed(); // said also if nothing moved: a refused text goes
  });
  bars.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const to = place(event), before = values;
    // Every bar between the last place and this one is painted too, however fast the pointer went.
    const distance = Math.abs(to.index - drag.index), way = Math.sign(to.index - drag.index);
    for (let i = distance ? 1 : 0; i <= distance; i += 1) {
      const share = distance ? drag.share + ((to.share - drag.share) * i) / distance : to.share;
      move(drag.index + way * i, at(share));
    }
    const crossed = to.index !== chosen;
    drag = to;
    if (crossed) choose(to.index, true);
    if (!same(before, values)) changed();
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
    bars.addEventListener(end, () => { drag = null; });

  bars.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const index = columns.indexOf(event.target);
    if (index < 0) return;
    const sideways = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const steps = {ArrowUp: event.shiftKey ? 10 : 1, ArrowDown: event.shiftKey ? -10 : -1, PageUp: 10, PageDown: -10}[event.key];
    if (sideways) choose(Math.min(Math.max(index + sideways, 0), values.length - 1), true);
    else if (steps || event.key === "Home" || event.key === "End") {
      move(index, steps ? stepped(values[index], steps) : event.key === "Home" ? face.low : face.high);
      changed();
    } else return;
    event.preventDefault();
  });
  bars.addEventListener("focusin", (event) => {
    const index = columns.indexOf(event.target);
    if (index >= 0 && index !== chosen) choose(index, false);
  });

  /** Returns whether the text could be used. */
  function typed(text) {
    const value = readNumber(face.unit === "%" ? text.replace("%", "") : text), own = face.names[chosen];
    let fault = "";
    if (Number.isNaN(value)) fault = `“${text.trim()}” is not a number. Write it like 0.2, 20 % or 1/5.`;
    else if (value < face.low || value > face.high)
      fault = `${write(value)} is outside ${write(face.low)} to ${write(face.high)}. Choose a value inside.`;
    else if (hold) {
      const reached = moveEntry(values, chosen, value, face.low, face.high, true)[chosen];
      if (Math.abs(reached - value) > 1e-9 * (face.high - face.low))
        fault = `With the mean held at ${write(average())}, ${own} goes no further than ${write(reached)}.`;
    }
    tell(told, fault);
    if (fault) return false;
    run = null;
    move(chosen, value);
    paint();
    tellPython();
    return true;
  }

  held.addEventListener("change", () => {
    hold = held.checked;
    run = null;
    changed();
  });

  function choose(index, focus) {
    if (index !== chosen) {
      field.forget();
      tell(told, "");
    }
    chosen = index;
    if (focus) columns[index].focus({preventScroll: true});
    paint();
  }

  // -- what is shown --------------------------------------------------------------------------------------

  const average = () => values.reduce((sum, value) => sum + value, 0) / values.length;

  function paint() {
    const tail = face.unit ? ` ${face.unit}` : "";
    values.forEach((value, i) => {
      const column = columns[i], now = String(value);
      if (column.getAttribute("aria-valuenow") !== now) {
        column.style.setProperty("--height", `${(height(value) * 100).toFixed(2)}%`);
        column.setAttribute("aria-valuenow", now);
        column.setAttribute("aria-valuetext", write(value) + tail);
        column.title = `${face.names[i]}: ${write(value)}${tail}`;
      }
      column.classList.toggle("chosen", i === chosen);
      captions[i].classList.toggle("chosen", i === chosen);
      column.tabIndex = i === chosen ? 0 : -1;
    });
    const middle = average();
    mean.textContent = `mean ${write(middle)}`;
    meanLine.style.bottom = `${(height(middle) * 100).toFixed(2)}%`;
    name.textContent = /^\d+$/.test(face.names[chosen]) ? `no. ${face.names[chosen]}` : face.names[chosen];
    name.title = face.names[chosen];
    field.setAttribute("aria-label", `value of ${face.names[chosen]}`);
    field.show(write(values[chosen]));
    held.checked = hold === true;
    markPreset(values);
  }

  function build() {
    chosen = Math.min(chosen, face.names.length - 1);
    label.textContent = face.unit && face.label ? `${face.label} (${face.unit})` : face.label;
    unit.textContent = face.unit;
    holder.hidden = face.hold_mean === null;
    top.textContent = write(face.high);
    bottom.textContent = write(face.low);
    bars.setAttribute("aria-label", face.label || "values");
    columns = face.names.map((own) => element("div", {
      class: "bar", role: "slider", "aria-orientation": "vertical", "aria-label": own,
      "aria-valuemin": face.low, "aria-valuemax": face.high,
    }));
    bars.replaceChildren(...columns, meanLine);
    captions = face.names.map((own) => element("span", {title: own}, own));
    names.replaceChildren(...captions);
    drag = run = null;
    arrange();
  }

  function offerPresets() {
    markPreset = presetButtons(chips, face.presets, (preset) => {
      values = [...preset];
      run = null;
      changed();
    });
  }

  /** Names as they fit: side by side, upright, or every second, fifth, tenth ... one. */
  function arrange() {
    const count = columns.length;
    const longest = Math.max(...face.names.map((own) => own.length)) * 6.2 + 6;
    bars.style.maxWidth = names.style.maxWidth = `${count * Math.min(Math.max(longest, 76), 120)}px`;
    const width = bars.clientWidth;
    if (!width || !count) return;
    const pitch = width / count;
    bars.style.setProperty("--gap", `${Math.min(Math.max(pitch * 0.1, 0.5), 5)}px`);
    names.style.setProperty("--pitch", `${pitch}px`);
    const upright = longest > Math.max(pitch, 30) && pitch >= 13;
    const few = !upright && longest > pitch;
    const every = few ? [2, 4, 5, 8, 10, 16, 20, 32].find((n) => n * pitch >= longest + 6) ?? count : 1;
    names.classList.toggle("upright", upright);
    names.classList.toggle("few", few);
    captions.forEach((caption, i) => {
      caption.style.visibility = i === 0 || (i + 1) % every === 0 ? "visible" : "hidden";
    });
    if (few && every > 1) captions[0].style.visibility = every * pitch >= 2 * longest ? "visible" : "hidden";
  }

  let drawn = "", offering = "";
  function hear(now, newer) {
    const {names: own, label: title, low, high, scale, unit: measure, presets} = now;
    const shape = JSON.stringify([own, title, low, high, scale, measure, now.hold_mean === null]);
    const rebuilt = shape !== drawn, offered = JSON.stringify(presets);
    face = now;
    if (!newer || rebuilt) {
      if (!same(values, now.value)) run = null;
      if (run && run.made === values) run.made = now.value;
      values = now.value;
      hold = now.hold_mean;
    }
    if (rebuilt) {
      const focused = bars.contains(root.getRootNode().activeElement);
      drawn = shape;
      build();
      if (focused) columns[chosen].focus({preventScroll: true});
    }
    if (offered !== offering) {
      offering = offered;
      offerPresets();
    }
    if (now.error !== refused) tell(told, refused = now.error);
    paint();
    return !rebuilt;
  }

  const watcher = new ResizeObserver(arrange);
  watcher.observe(root);
  model.on("remove", () => watcher.disconnect());
  hear(model.face, false);
  return root;
}
