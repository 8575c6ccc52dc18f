// Shared by the widgets: elements made without markup, so that recorded text is only ever text.

/** An element with attributes, listeners (`onclick: f`) and children; a string child becomes a text node. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  // JupyterLab reads keys before the page does, and leaves them alone only where the focused element itself asks for it
  if (tag === "button" || tag === "summary" || "tabindex" in attributes)
    element.setAttribute("data-lm-suppress-shortcuts", "true");
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Recorded text on its own in the direction of its letters: it cannot turn the words around it. */
function recorded(text, className) {
  return h("bdi", { class: className }, text);
}

/** A packed column as an array: null where nothing is told. See sessionlab/widgets/_table.py. */
function column(packed, name) {
  const values = packed.columns[name];
  if (values === undefined) return new Array(packed.count).fill(null);
  return Array.isArray(values) ? values : values.codes.map((code) => (code < 0 ? null : values.values[code]));
}

/** Root element of a widget. */
function root(el, label) {
  const element = h("div", { class: "sl", role: "group", "aria-label": label });
  el.append(element);
  return element;
}

function notices(sentences) {
  return sentences.length ? h("p", { class: "sl-notice", role: "note" }, sentences.join(" ")) : null;
}

/** A hover box that stays inside the widget; `show(nodes, x, y)` in client coordinates. */
function tooltip(container) {
  const box = h("div", { class: "sl-tip", role: "tooltip", hidden: true });
  container.append(box);
  return {
    show(nodes, x, y) {
      box.replaceChildren(...nodes);
      box.hidden = false;
      const outer = container.getBoundingClientRect();
      const left = Math.min(x - outer.left + 14, outer.width - box.offsetWidth - 8);
      const below = y - outer.top + 18;
      const above = y - outer.top - box.offsetHeight - 10;
      box.style.left = `${Math.max(8, left)}px`;
      box.style.top = `${y + 18 + box.offsetHeight > window.innerHeight && above > 0 ? above : below}px`;
    },
    hide() {
      box.hidden = true;
    },
  };
}

/** A line that screen readers speak; `say(text)`. */
function speaker(container) {
  const line = h("div", { class: "sl-spoken", role: "status", "aria-live": "polite" });
  container.append(line);
  return (text) => {
    line.textContent = text;
  };
}

/** A legend key that filters: pressed means shown. `picture` is an element, `toggle(pressed)` is called on change. */
function legendKey({ key, label, count, title, pressed }, picture, toggle) {
  const button = h(
    "button",
    { type: "button", class: "sl-key", "aria-pressed": String(pressed), "data-key": key, title },
    picture,
    h("span", {}, label),
    h("span", { class: "sl-count" }, count.toLocaleString("en-US")),
  );
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    toggle(now);
  });
  return button;
}

/** Colours of the surrounding page for canvases, read from the style sheet's variables. */
function theme(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    ink: read("--sl-ink"),
    quiet: read("--sl-quiet"),
    faint: read("--sl-faint"),
    rule: read("--sl-rule"),
    paper: read("--sl-paper"),
    band: read("--sl-band"),
    focus: read("--sl-focus"),
    alarm: read("--sl-alarm"),
    font: style.fontFamily,
  };
}

/** Calls `redraw` when the size of `element` or the theme around it changes, until `signal` aborts. */
function watch(element, redraw, signal) {
  let waiting = 0;
  const later = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(redraw);
  };
  const sizes = new ResizeObserver(later);
  sizes.observe(element);
  const themes = new MutationObserver(later);
  themes.observe(document.body, {
    attributes: true,
    attributeFilter: ["class", "data-jp-theme-name", "data-jp-theme-light"],
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later, { signal });
  signal.addEventListener("abort", () => {
    cancelAnimationFrame(waiting);
    sizes.disconnect();
    themes.disconnect();
  });
  return later;
}

/** A canvas context cleared and scaled so that its unit is a CSS pixel. */
function surface(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, t] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== t) {
    canvas.width = w;
    canvas.height = t;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
