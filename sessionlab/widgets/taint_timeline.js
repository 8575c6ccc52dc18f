// Draws the payload of sessionlab/widgets/_messages.py: a ribbon of all messages, and the same messages as a list.

const ROW = 32;
const MOST_LIST = 416;
const WIDEST = { agent_id: 16, voice: 10, name: 26 }; // characters of a column; longer ones are cut, and whole on hover
const ROW_COLUMNS = [
  "session_id",
  "agent_id",
  "kind",
  "position",
  "seq",
  "run",
  "role",
  "voice",
  "state",
  "private",
  "untrusted",
  "covered_by_seq",
  "learnable",
  "external",
  "name",
  "excerpt",
  "told",
];

/** The two cells that tell a state by filled or empty, by letter and by hatching; colour only repeats it. */
function stateBadge(state) {
  const cell = (leg, letter) => {
    if (state === "unknown") return h("span", { class: "sl-cell sl-cell-unknown" }, "?");
    const told = state === leg || state === "both";
    return h("span", { class: `sl-cell ${told ? `sl-cell-${leg}` : "sl-cell-clean"}` }, told ? letter : "·");
  };
  return h("span", { class: "sl-state", "aria-hidden": "true" }, cell("private", "P"), cell("untrusted", "U"));
}

function render({ model, el }) {
  const data = JSON.parse(model.get("payload"));
  const stop = new AbortController();
  const frame = root(el, `Taint timeline: ${data.summary}`);
  const cleanup = () => {
    stop.abort();
    frame.remove();
  };
  if (!data.rows.count) {
    frame.append(h("p", { class: "sl-empty" }, "No messages in the table given."), notices(data.notices) ?? "");
    return cleanup;
  }

  const rows = Object.fromEntries(ROW_COLUMNS.map((name) => [name, column(data.rows, name)]));
  const count = data.rows.count;
  const states = new Map(data.legend.map((state) => [state.key, state]));
  const hidden = new Set();
  let listed = rows.kind.map((_, i) => i);
  let cursor = -1;

  // --- the parts of the page ---------------------------------------------------------------------------------
  const viewport = new Viewport([0, count], 4, () => redraw());
  const canvas = h("canvas", { class: "sl-ribbon", "aria-hidden": "true" });
  const inner = h("div", { class: "sl-list-inner", role: "presentation" });
  const list = h(
    "div",
    {
      class: "sl-list",
      tabindex: "0",
      role: "listbox",
      "aria-label": `${data.summary}. Up and down arrow: messages. Enter: details. Escape: close. Plus, minus, zero: zoom the ribbon.`,
    },
    inner,
  );
  // each column as wide as its longest text; one without any text is left out
  const longest = (texts) => texts.reduce((most, text) => Math.max(most, text?.length ?? 0), 0);
  const told = data.legend.filter((state) => state.count).map((state) => state.label);
  const widths = {
    position: Math.max(2, longest(rows.position.map((n) => n?.toString()))),
    state: longest(told),
    ...Object.fromEntries(Object.entries(WIDEST).map(([name, most]) => [name, Math.min(most, longest(rows[name]))])),
  };
  for (const [name, letters] of Object.entries(widths)) list.style.setProperty(`--sl-${name}`, `${letters}ch`);
  const details = panel(() => {
    select(-1);
    list.focus();
  });
  const isHidden = (i) => hidden.has(rows.state[i] ?? rows.kind[i]);
  const filter = (key) => (on) => {
    on ? hidden.delete(key) : hidden.add(key);
    listed = rows.kind.map((_, i) => i).filter((i) => !isHidden(i));
    redraw();
  };
  const keys = [
    ...data.legend.map((state) =>
      legendKey({ ...state, pressed: true, title: state.meaning }, stateBadge(state.key), filter(state.key)),
    ),
    ...data.events.map((event) =>
      legendKey(
        { ...event, pressed: true, title: "Show or hide" },
        h("span", { class: "sl-event-glyph" }, EVENT_GLYPHS[event.key]),
        filter(event.key),
      ),
    ),
  ];
  const chart = h("div", { class: "sl-taint" }, canvas, list);
  frame.append(
    h(
      "div",
      { class: "sl-bar" },
      h("strong", {}, data.summary),
      h("span", { class: "sl-space" }),
      zoomButtons(viewport),
    ),
    notices(data.notices) ?? "",
    h("div", { class: "sl-legend", role: "group", "aria-label": "States" }, keys),
    h("div", { class: "sl-body" }, chart, details.element),
    h(
      "p",
      { class: "sl-keys", "aria-hidden": "true" },
      "↑ ↓ messages   Enter details   + − 0 zoom   Ctrl + wheel zoom   drag the ribbon to move",
    ),
  );
  const tip = tooltip(frame);

  const state = {
    isHidden,
    get cursor() {
      return cursor;
    },
    inSight: () =>
      [list.scrollTop, list.scrollTop + list.clientHeight - 1].map(
        (y) => listed[Math.min(listed.length - 1, Math.floor(y / ROW))],
      ),
  };
  const ribbon = ribbonDrawing({ data, rows, viewport, canvas, state });
  function draw() {
    if (!frame.isConnected) return;
    ribbon.draw();
    drawList();
  }

  // --- the list: only the rows in sight are in the page ---------------------------------------------------------
  function drawList() {
    inner.style.height = `${listed.length * ROW}px`;
    list.style.height = `${Math.max(ROW, Math.min(listed.length * ROW, model.get("height") ?? MOST_LIST))}px`;
    const from = Math.max(0, Math.floor(list.scrollTop / ROW) - 6);
    const to = Math.min(listed.length, Math.ceil((list.scrollTop + (list.clientHeight || MOST_LIST)) / ROW) + 6);
    inner.replaceChildren(...listed.slice(from, to).map((i, k) => rowElement(i, from + k)));
    const current = inner.querySelector('[aria-selected="true"]');
    if (current) list.setAttribute("aria-activedescendant", current.id);
    else list.removeAttribute("aria-activedescendant");
  }

  const prefix = `sl-${Math.random().toString(36).slice(2)}`;
  const cell = (name, text) => h("span", { class: `sl-row-${name}`, title: text }, recorded(text ?? ""));

  /** Whether another agent's conversation begins with the row at `place` of the list. */
  function startsAgent(i, place) {
    const above = listed[place - 1];
    return above !== undefined && rows.agent_id[above] !== rows.agent_id[i];
  }

  function rowElement(i, place) {
    const isMessage = rows.kind[i] === "message";
    const attributes = {
      class: `sl-row sl-row-${rows.kind[i]}${startsAgent(i, place) ? " sl-row-first" : ""}`,
      role: "option",
      id: `${prefix}-${i}`,
      "data-row": i,
      "data-state": rows.state[i],
      "aria-selected": String(i === cursor),
      "aria-setsize": listed.length,
      "aria-posinset": place + 1,
      "aria-label": sentence(i),
      style: `top: ${place * ROW}px`,
      onclick: () => select(i),
    };
    if (!isMessage) {
      return h(
        "div",
        attributes,
        h("span", { class: "sl-event-glyph" }, EVENT_GLYPHS[rows.kind[i]]),
        h(
          "span",
          { class: "sl-row-event" },
          h("b", {}, data.events.find(({ key }) => key === rows.kind[i]).label),
          " · ",
          recorded(rows.told[i]),
        ),
      );
    }
    return h(
      "div",
      attributes,
      h("span", { class: "sl-row-position" }, rows.position[i] === null ? "" : String(rows.position[i])),
      stateBadge(rows.state[i]),
      h("span", { class: "sl-row-state" }, states.get(rows.state[i]).label),
      widths.agent_id > 0 && cell("agent", rows.agent_id[i]),
      recorded(rows.voice[i] ?? rows.role[i] ?? "not told", "sl-row-voice"),
      widths.name > 0 && cell("tool", rows.name[i]),
      recorded(rows.excerpt[i] ?? "", "sl-row-excerpt"),
    );
  }

  function sentence(i) {
    if (rows.kind[i] !== "message") return `${rows.kind[i]}: ${rows.told[i]}`;
    return [
      `message ${rows.position[i] ?? "without position"}`,
      states.get(rows.state[i]).label,
      rows.voice[i],
      rows.name[i],
      rows.excerpt[i],
    ]
      .filter(Boolean)
      .join(", ");
  }

  // --- choosing -------------------------------------------------------------------------------------------------
  const yesNo = (value) => (value === null ? "not told" : value ? "yes" : "no");

  function openPanel(i) {
    const isMessage = rows.kind[i] === "message";
    details.open({
      title: [
        h("b", {}, isMessage ? `message ${rows.position[i] ?? ""}` : rows.kind[i]),
        " ",
        isMessage ? recorded(rows.role[i] ?? "") : "",
      ],
      facts: [
        [
          "taint",
          isMessage ? `${states.get(rows.state[i]).label}. ${states.get(rows.state[i]).meaning}` : rows.told[i],
        ],
        [
          "covered by",
          !isMessage
            ? null
            : rows.covered_by_seq[i] === null
              ? "no checkpoint"
              : `checkpoint in entry ${rows.covered_by_seq[i]}`,
        ],
        ["agent", rows.agent_id[i]],
        ["voice", rows.voice[i]],
        ["tools", rows.name[i]],
        ["from outside", isMessage ? yesNo(rows.external[i]) : null],
        ["learnable", isMessage ? yesNo(rows.learnable[i]) : null],
        ["run", rows.run[i]],
        ["entry", rows.seq[i]],
        ["session", rows.session_id[i]],
        ["begins with", rows.excerpt[i]],
      ],
    });
  }

  function select(i) {
    if (model.get("selected") !== i) {
      model.set("selected", i);
      model.save_changes();
    }
    showSelected();
  }

  function showSelected() {
    const i = model.get("selected");
    if (!(i >= 0 && i < count)) details.close();
    else {
      cursor = i;
      openPanel(i);
      bringIntoView(i);
    }
    redraw();
  }

  function bringIntoView(i) {
    const place = listed.indexOf(i);
    if (place < 0) return;
    if (place * ROW < list.scrollTop) list.scrollTop = place * ROW;
    else if ((place + 1) * ROW > list.scrollTop + list.clientHeight)
      list.scrollTop = (place + 1) * ROW - list.clientHeight;
    viewport.reveal(i + 0.5);
  }

  function step(by) {
    if (!listed.length) return;
    const now = listed.indexOf(cursor);
    const next = by === "first" ? 0 : by === "last" ? listed.length - 1 : now < 0 ? 0 : now + by;
    cursor = listed[Math.max(0, Math.min(listed.length - 1, next))];
    bringIntoView(cursor);
    redraw();
  }

  const KEYS = {
    ArrowUp: () => step(-1),
    ArrowDown: () => step(1),
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    PageUp: () => step(-12),
    PageDown: () => step(12),
    Home: () => step("first"),
    End: () => step("last"),
    Enter: () => open(),
    " ": () => open(),
    Escape: () => select(-1),
  };
  function open() {
    if (cursor < 0) return;
    select(cursor);
    details.element.focus();
  }
  list.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (zoomKey(event, viewport, cursor + 0.5) || (KEYS[event.key] && (KEYS[event.key](), true))) {
      event.preventDefault();
      event.stopPropagation();
    }
  });
  list.addEventListener("scroll", () => redraw());

  const rowAt = (event) => {
    const i = Math.floor(viewport.at(event.clientX - canvas.getBoundingClientRect().left - GUTTER));
    return i >= 0 && i < count && !isHidden(i) ? i : -1;
  };
  canvas.addEventListener("pointermove", (event) => {
    const i = rowAt(event);
    if (i < 0 || canvas.classList.contains("sl-dragging")) return tip.hide();
    const isMessage = rows.kind[i] === "message";
    tip.show(
      [
        h(
          "div",
          { class: "sl-tip-head" },
          isMessage ? stateBadge(rows.state[i]) : h("span", {}, EVENT_GLYPHS[rows.kind[i]]),
          h("b", {}, isMessage ? states.get(rows.state[i]).label : rows.kind[i]),
        ),
        h(
          "div",
          { class: "sl-tip-facts" },
          recorded(
            isMessage
              ? [`message ${rows.position[i] ?? ""}`, rows.voice[i], rows.name[i]].filter(Boolean).join(" · ")
              : rows.told[i],
          ),
        ),
        ...(rows.excerpt[i] ? [h("div", { class: "sl-tip-excerpt" }, recorded(rows.excerpt[i]))] : []),
      ],
      event.clientX,
      event.clientY,
    );
  });
  canvas.addEventListener("pointerleave", () => tip.hide());
  canvas.addEventListener("click", (event) => {
    const i = rowAt(event);
    tip.hide();
    if (i >= 0 && !canvas.classList.contains("sl-dragging")) select(i);
  });
  steer(canvas, viewport, () => canvas.getBoundingClientRect().left + GUTTER, stop.signal);

  model.on("change:selected", showSelected);
  stop.signal.addEventListener("abort", () => model.off("change:selected", showSelected));
  const redraw = watch(chart, draw, stop.signal);
  showSelected();
  return cleanup;
}

export default { render };
