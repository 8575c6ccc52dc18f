// Shared by the widgets: which stretch of an axis is seen, where its places lie in pixels, and how it is moved.

const FOLD_WIDTH = 28;
const MOST_FOLDED = 0.4; // of the width, for all folds together

/**
 * An axis laid out in pixels, and a window on it. Between its folds the axis is in proportion; a fold ([from, to])
 * takes the same few pixels whatever it holds and however near one looks. `scale` is pixels per unit, `left` the pixels
 * of the axis that lie left of the window.
 */
class Viewport {
  /** `range` is the whole axis, `closest` the shortest stretch one may zoom to, `moved` is called on every change. */
  constructor(range, closest, moved) {
    this.moved = moved;
    this.width = 1;
    this.inset = 0; // pixels kept free at both ends, so that the first and last marks are seen whole
    this.reset(range, closest);
  }

  /** Another axis, all of it in view. */
  reset(range, closest, folds = []) {
    this.range = range;
    this.closest = closest;
    this.#setFolds(folds);
    this.#look(0, 0);
  }

  /** Other folds of the same axis; what was in view stays so. */
  fold(folds) {
    this.#keeping(() => this.#setFolds(folds));
  }

  /** Another size on the page; what was in view stays so. */
  resize(width, inset = 0) {
    if (width === this.width && inset === this.inset) return;
    this.#keeping(() => {
      this.width = width;
      this.inset = inset;
    });
  }

  #setFolds(folds) {
    this.folds = folds;
    this.idle = [0]; // folded length before each fold, and in all
    for (const [from, to] of folds) this.idle.push(this.idle.at(-1) + to - from);
  }

  #keeping(change) {
    const { view } = this;
    change();
    const [from, to] = view.map((value) => this.#before(value));
    const scale = (this.span - this.foldWidth * (to.folds - from.folds)) / (to.busy - from.busy);
    this.#look(Math.min(scale, this.closestScale), (kept) => from.busy * kept + from.folds * this.foldWidth);
  }

  get span() {
    return Math.max(1, this.width - 2 * this.inset);
  }
  get foldWidth() {
    return this.folds.length ? Math.min(FOLD_WIDTH, (MOST_FOLDED * this.span) / this.folds.length) : 0;
  }
  get busy() {
    return this.range[1] - this.range[0] - this.idle.at(-1);
  }
  get fitScale() {
    return (this.span - this.foldWidth * this.folds.length) / this.busy;
  }
  get closestScale() {
    return Math.max(this.fitScale, this.span / Math.min(this.closest, this.busy));
  }

  /** What lies before a place: busy length, and folds, the part of one it lies in counted as a part. */
  #before(value) {
    let [low, high] = [0, this.folds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.folds[middle][0] < value) low = middle + 1;
      else high = middle;
    }
    if (!low) return { busy: value - this.range[0], folds: 0 };
    const [from, to] = this.folds[low - 1];
    const inside = Math.min(value, to) - from;
    return { busy: value - this.range[0] - this.idle[low - 1] - inside, folds: low - 1 + inside / (to - from) };
  }

  #along(value, scale = this.scale) {
    if (!this.folds.length) return (value - this.range[0]) * scale;
    const { busy, folds } = this.#before(value);
    return busy * scale + folds * this.foldWidth;
  }

  /** Pixel of a place. */
  x(value) {
    return this.inset + this.#along(value) - this.left;
  }

  /** Place at a pixel. */
  at(x) {
    const along = x - this.inset + this.left;
    for (const [k, [from, to]] of this.folds.entries()) {
      const start = this.#along(from);
      if (along < start) return this.range[0] + this.idle[k] + (along - k * this.foldWidth) / this.scale;
      if (along < start + this.foldWidth) return from + ((along - start) / this.foldWidth) * (to - from);
    }
    return this.range[0] + this.idle.at(-1) + (along - this.folds.length * this.foldWidth) / this.scale;
  }

  /** The fold under a pixel, -1 when there is none. */
  foldAt(x) {
    return this.folds.findIndex(([from, to]) => x >= this.x(from) && x < this.x(to));
  }

  /** Sets what is seen, kept inside the whole; true when that is a change. `left` may depend on the scale. */
  #look(scale, left) {
    const kept = Math.max(this.fitScale, Math.min(scale, this.closestScale));
    const most = this.busy * kept + this.folds.length * this.foldWidth - this.span;
    const from = Math.max(0, Math.min(typeof left === "function" ? left(kept) : left, most));
    if (kept === this.scale && from === this.left) return false;
    this.scale = kept;
    this.left = from;
    return true;
  }

  #show(scale, left) {
    if (this.#look(scale, left)) this.moved();
  }

  /** First and last place in view. */
  get view() {
    return this.whole ? [...this.range] : [this.at(this.inset), this.at(this.inset + this.span)];
  }

  get whole() {
    return !(this.scale > this.fitScale * (1 + 1e-9));
  }

  /** Where the view begins and how long it is, as shares of the whole. */
  get share() {
    const total = this.busy * this.scale + this.folds.length * this.foldWidth;
    return [this.left / total, this.span / total];
  }

  /** The stretches in view between folds. */
  get stretches() {
    const [low, high] = this.view;
    const begins = [this.range[0], ...this.folds.map(([, to]) => to)];
    const ends = [...this.folds.map(([from]) => from), this.range[1]];
    return begins
      .map((begin, k) => [Math.max(low, begin), Math.min(high, ends[k])])
      .filter(([begin, end]) => begin < end);
  }

  /** Makes what is seen `factor` times as long, with the place under pixel `x` standing still. */
  zoom(factor, x = this.width / 2) {
    const fixed = this.at(x);
    this.#show(this.scale / factor, (kept) => this.#along(fixed, kept) - (x - this.inset));
  }

  /** Moves by a share of what is seen: -1 is a screen to the left. */
  pan(share) {
    this.move(share * this.span);
  }

  move(pixels) {
    this.#show(this.scale, this.left + pixels);
  }

  fit() {
    this.#show(0, 0);
  }

  /** Moves as little as needed to see `value`. */
  reveal(value) {
    const along = this.#along(value);
    const margin = this.span * 0.08;
    if (along < this.left + margin) this.#show(this.scale, along - margin);
    else if (along > this.left + this.span - margin) this.#show(this.scale, along + margin - this.span);
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
        viewport.move(event.shiftKey ? event.deltaY || event.deltaX : event.deltaX);
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
      viewport.move(grip.x - event.clientX);
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
  const [low, high] = viewport.view;
  const seen = value >= low && value <= high;
  const x = seen ? viewport.x(value) : viewport.width / 2;
  if (event.key === "+" || event.key === "=") viewport.zoom(0.5, x);
  else if (event.key === "-") viewport.zoom(2, x);
  else if (event.key === "0") viewport.fit();
  else if (event.shiftKey && event.key === "ArrowLeft") viewport.pan(-0.25);
  else if (event.shiftKey && event.key === "ArrowRight") viewport.pan(0.25);
  else return false;
  return true;
}
