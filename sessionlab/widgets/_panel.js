// Shared by the widgets: the panel that tells one entry in full. Texts are shown as text, long ones only on demand.

const SHORT_TEXT = 1_600;
const SHORT_LIST = 24;
const LONG_LINE = /[^\n]{10000}/;

/**
 * A panel beside the drawing.
 * `open({title, facts, groups, hint})`: title nodes; facts [label, text]; groups {title, items: [{label, size, remark, text}], folded}.
 */
function panel(closed) {
  const body = h("div", { class: "sl-panel-body" });
  const title = h("div", { class: "sl-panel-title" });
  const element = h(
    "aside",
    { class: "sl-panel", tabindex: "-1", "aria-label": "Details", hidden: true },
    h(
      "header",
      {},
      title,
      h(
        "button",
        { type: "button", class: "sl-button", "aria-label": "Close details (Escape)", onclick: () => closed() },
        "✕",
      ),
    ),
    body,
  );
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    closed();
  });
  return {
    element,
    open({ title: nodes, facts, groups = [], hint = null }) {
      title.replaceChildren(...nodes);
      body.replaceChildren(
        h(
          "dl",
          { class: "sl-facts" },
          facts
            .filter(([, text]) => text !== null && text !== undefined && text !== "")
            .map(([label, text]) => h("div", {}, h("dt", {}, label), h("dd", {}, recorded(String(text))))),
        ),
        ...groups.map(group),
        ...(hint ? [h("p", { class: "sl-hint" }, hint)] : []),
      );
      element.hidden = false;
      body.scrollTop = 0;
    },
    close() {
      element.hidden = true;
    },
    get isOpen() {
      return !element.hidden;
    },
  };
}

function group({ title, items, folded }) {
  const list = h("div", { class: "sl-items" });
  const add = (from, to) => list.append(...items.slice(from, to).map(item));
  add(0, SHORT_LIST);
  if (items.length > SHORT_LIST) {
    const more = h("button", { type: "button", class: "sl-more" }, `show all ${items.length.toLocaleString("en-US")}`);
    more.addEventListener("click", () => {
      more.remove();
      add(SHORT_LIST, items.length);
    });
    list.append(more);
  }
  return h(
    "details",
    { class: "sl-group", open: !folded },
    h("summary", {}, title, items.length > 1 && h("span", { class: "sl-count" }, String(items.length))),
    list,
  );
}

function item({ label, size, remark, text }) {
  return h(
    "section",
    { class: "sl-item" },
    h(
      "div",
      { class: "sl-item-head" },
      label && recorded(label, "sl-item-label"),
      size && h("span", { class: "sl-size" }, size),
      remark && h("span", { class: "sl-remark" }, remark),
    ),
    longText(text, size),
  );
}

/** A text as it stands, the beginning first where it is long; characters that hide were made visible before. */
function longText(text, size) {
  if (text === null) return h("p", { class: "sl-hint" }, "no text");
  const block = h("pre", { class: "sl-text", tabindex: "0", "aria-label": "text" });
  if (text.length <= SHORT_TEXT * 1.25) {
    block.textContent = text;
    return block;
  }
  // a cut between the halves of a surrogate pair would show a broken character
  const end = SHORT_TEXT - (text.charCodeAt(SHORT_TEXT - 1) >> 10 === 0x36 ? 1 : 0);
  block.textContent = `${text.slice(0, end)}…`;
  const more = h("button", { type: "button", class: "sl-more" }, `show all${size ? ` (${size})` : ""}`);
  more.addEventListener("click", () => {
    block.textContent = text;
    block.classList.toggle("sl-text-long", LONG_LINE.test(text));
    more.remove();
  });
  return h("div", {}, block, more);
}
