// Shared by the widgets: which stretch of an axis is seen, how it is moved, and where its ticks stand.

class Viewport {
  /** `range` is the whole axis, `closest` the shortest stretch one may zoom to, `moved` is called on every change. */
  constructor(range, closest, moved) {
    this.moved = moved;
    this.width = 1;
    this.inset = 0; // pixels kept free at both ends, so that the first and last marks are seen whole
    this.reset(range, closest);
  }

  reset(range, closest) {
    this.range = range;
    this.closest = Math.min(closest, range[1] - range[0]);
    this.view = [...range];
  }

  x(value) {
    return this.inset + ((value - this.view[0]) / (this.view[1] - this.view[0])) * (this.width - 2 * this.inset);
  }

  at(x) {
    return this.view[0] + ((x - this.inset) / (this.width - 2 * this.inset)) * (this.view[1] - this.view[0]);
  }

  /** Shows `length` of the axis from `start` on, kept inside the whole. */
  show(start, length) {
    const [low, high] = this.range;
    const kept = Math.max(this.closest, Math.min(length, high - low));
    const from = Math.max(low, Math.min(start, high - kept));
    if (from === this.view[0] && from + kept === this.view[1]) return;
    this.view = [from, from + kept];
    this.moved();
  }

  /** Makes the stretch `factor` times as long, with the place under pixel `x` standing still. */
  zoom(factor, x = this.width / 2) {
    const fixed = this.at(x);
    const length = (this.view[1] - this.view[0]) * factor;
    const kept = Math.max(this.closest, Math.min(length, this.range[1] - this.range[0]));
    this.show(fixed - ((x - this.inset) / (this.width - 2 * this.inset)) * kept, kept);
  }

  /** Moves by a share of what is seen: -1 is a screen to the left. */
  pan(share) {
    const length = this.view[1] - this.view[0];
    this.show(this.view[0] + share * length, length);
  }

  fit() {
    this.show(this.range[0], this.range[1] - this.range[0]);
  }

  /** Moves as little as needed to see `value`. */
  reveal(value) {
    const length = this.view[1] - this.view[0];
    const margin = length * 0.08;
    if (value < this.view[0] + margin) this.show(value - margin, length);
    else if (value > this.view[1] - margin) this.show(value + margin - length, length);
  }

  get whole() {
    return this.view[0] <= this.range[0] && this.view[1] >= this.range[1];
  }
}

/** Wheel with Ctrl zooms, wheel sideways or with Shift pans, a drag pans. `left()`: client x where the axis begins. */
function steer(element, viewport, left, signal) {
  element.addEventListener(
    "wheel",
    (event) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        viewport.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.008), event.clientX - left());
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        viewport.pan((event.shiftKey ? event.deltaY || event.deltaX : event.deltaX) / viewport.width);
      }
    },
    { passive: false, signal },
  );
  let grip = null;
  element.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button === 0 && event.clientX > left()) grip = { x: event.clientX, moved: false };
    },
    { signal },
  );
  window.addEventListener(
    "pointermove",
    (event) => {
      if (!grip || (!grip.moved && Math.abs(event.clientX - grip.x) < 5)) return;
      grip.moved = true;
      element.classList.add("sl-dragging");
      viewport.pan((grip.x - event.clientX) / viewport.width);
      grip.x = event.clientX;
    },
    { signal },
  );
  window.addEventListener(
    "pointerup",
    () => {
      // the click that ends a drag comes after this: it must not select
      const dragged = grip?.moved;
      grip = null;
      if (dragged) setTimeout(() => element.classList.remove("sl-dragging"));
    },
    { signal },
  );
}

function zoomButtons(viewport) {
  const button = (label, text, act) =>
    h("button", { type: "button", class: "sl-button", "aria-label": label, title: label, onclick: act }, text);
  return h(
    "div",
    { class: "sl-zoom", role: "group", "aria-label": "Zoom" },
    button("Zoom out (-)", "−", () => viewport.zoom(2)),
    button("Zoom in (+)", "+", () => viewport.zoom(0.5)),
    button("Show all (0)", "fit", () => viewport.fit()),
  );
}

/** Handles + - 0 and Shift with arrows, zooming around `value` where that is seen; true when the key was one of them. */
function zoomKey(event, viewport, value) {
  const seen = value >= viewport.view[0] && value <= viewport.view[1];
  const x = seen ? viewport.x(value) : viewport.width / 2;
  if (event.key === "+" || event.key === "=") viewport.zoom(0.5, x);
  else if (event.key === "-") viewport.zoom(2, x);
  else if (event.key === "0") viewport.fit();
  else if (event.shiftKey && event.key === "ArrowLeft") viewport.pan(-0.25);
  else if (event.shiftKey && event.key === "ArrowRight") viewport.pan(0.25);
  else return false;
  return true;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
];

/** The places of ticks about `apart` pixels from each other and what is written at them. */
function ticks(viewport, axis, zero, apart = 110) {
  const [low, high] = viewport.view;
  const rough = ((high - low) * apart) / viewport.width;
  const offset = axis === "clock" ? zero : 0;
  let step;
  if (axis === "order") {
    const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
    step = Math.max(
      1,
      [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough),
    );
  } else {
    step = TIME_STEPS.find((n) => n >= rough) ?? Math.ceil(rough / DAY) * DAY;
  }
  const marks = [];
  for (let n = Math.ceil((low + offset) / step); n * step <= high + offset; n += 1) {
    marks.push({ value: n * step - offset, text: tickText(axis, n * step, step) });
  }
  return marks;
}

function tickText(axis, value, step) {
  if (axis === "order") return value.toLocaleString("en-US");
  if (axis === "clock") return clockText(value, step);
  const sign = value < 0 ? "−" : "";
  const ms = Math.abs(value);
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  const [days, hours] = [Math.floor(ms / DAY), Math.floor((ms % DAY) / HOUR)];
  const clock = `${days || hours ? `${hours}:${two((ms % HOUR) / MINUTE)}` : Math.floor(ms / MINUTE)}:${two((ms % MINUTE) / SECOND)}`;
  const fraction = step < SECOND ? `.${String(Math.round(ms % SECOND)).padStart(3, "0")}` : "";
  return `${sign}${days ? `${days} d ` : ""}${clock}${fraction}`;
}

/** A time of day in UTC, as fine as `step` asks for; at midnight, and for steps of days, the date. */
function clockText(ms, step) {
  const iso = new Date(ms).toISOString();
  if (step >= DAY || ms % DAY === 0) return iso.slice(0, 10);
  if (step >= MINUTE) return iso.slice(11, 16);
  return iso.slice(11, step >= SECOND ? 19 : 23);
}
