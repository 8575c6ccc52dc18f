// Draws the payload of sessionlab/widgets/_messages.py: a ribbon of all messages, and the same messages as a list.

const GUTTER = 92;
const TRACK = 20;
const TRACK_GAP = 5;
const WIDEST_CELL = 30;
const RIBBON_TOP = 6;
const EVENT_TOP = RIBBON_TOP + 2 * TRACK + TRACK_GAP + 4;
const RIBBON_HEIGHT = EVENT_TOP + 36;
const ROW = 32;
const MOST_LIST = 416;
const EVENT_GLYPHS = { checkpoint: "▲", rewrite: "↺", extend: "+" };
const LEGS = ["private", "untrusted"];
const ROW_COLUMNS = [
  "session_id", "kind", "position", "seq", "run", "role", "voice", "state", "private", "untrusted", "covered_by_seq", "learnable",
  "external", "name", "excerpt", "told",
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
      class: "sl-list", tabindex: "0", role: "listbox",
      "aria-label": `${data.summary}. Up and down arrow: messages. Enter: details. Escape: close. Plus, minus, zero: zoom the ribbon.`,
    },
    inner,
  );
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
    ...data.legend.map((state) => legendKey({ ...state, pressed: true, title: state.meaning }, stateBadge(state.key), filter(state.key))),
    ...data.events.map((event) =>
      legendKey({ ...event, pressed: true, title: "Show or hide" }, h("span", { class: "sl-event-glyph" }, EVENT_GLYPHS[event.key]), filter(event.key))),
  ];
  const chart = h("div", { class: "sl-taint" }, canvas, list);
  frame.append(
    h("div", { class: "sl-bar" }, h("strong", {}, data.summary), h("span", { class: "sl-space" }), zoomButtons(viewport)),
    notices(data.notices) ?? "",
    h("div", { class: "sl-legend", role: "group", "aria-label": "States" }, keys),
    h("div", { class: "sl-body" }, chart, details.element),
    h("p", { class: "sl-keys", "aria-hidden": "true" }, "↑ ↓ messages   Enter details   + − 0 zoom   Ctrl + wheel zoom   drag the ribbon to move"),
  );
  const tip = tooltip(frame);

  // --- the ribbon ---------------------------------------------------------------------------------------------
  function draw() {
    if (!frame.isConnected) return;
    const colors = theme(frame);
    const width = chart.clientWidth;
    if (width <= GUTTER) return;
    viewport.width = Math.min(width - GUTTER - 8, count * WIDEST_CELL);
    const context = surface(canvas, width, RIBBON_HEIGHT);
    const cell = viewport.x(1) - viewport.x(0);
    const tops = { private: RIBBON_TOP, untrusted: RIBBON_TOP + TRACK + TRACK_GAP };
    context.font = `11px ${colors.font}`;
    context.fillStyle = colors.quiet;
    for (const leg of LEGS) context.fillText(leg, 12, tops[leg] + 14);
    context.save();
    context.beginPath();
    context.rect(GUTTER - 3, 0, width - GUTTER + 3, RIBBON_HEIGHT);
    context.clip();
    context.translate(GUTTER, 0);
    const first = Math.max(0, Math.floor(viewport.view[0]));
    const last = Math.min(count, Math.ceil(viewport.view[1]));
    // cells under a pixel share it: empty ones first, then unknown, then tainted, so that none hides a graver one
    const gap = cell > 5 ? 1 : 0;
    for (const pass of ["clean", "unknown", "tainted"]) {
      for (const leg of LEGS) cells(context, colors, pass, leg, tops[leg], first, last, cell, gap);
    }
    if (cell < 14) marksOfUnknown(context, colors, tops, first, last, cell);
    drawEvents(context, colors, first, last, cell);
    context.fillStyle = colors.quiet;
    for (const { value, text } of ticks(viewport, "order", 0)) {
      if (!Number.isInteger(value) || value >= count) continue;
      context.fillText(text, viewport.x(value) + 4, RIBBON_HEIGHT - 7);
      context.fillRect(Math.round(viewport.x(value)), RIBBON_HEIGHT - 15, 1, 9);
    }
    drawPlace(context, colors, cell);
    context.restore();
    drawList();
  }

  function cells(context, colors, pass, leg, top, first, last, cell, gap) {
    let painted = -Infinity;
    for (let i = first; i < last; i += 1) {
      const state = rows.state[i];
      if (!state || isHidden(i)) continue;
      const isUnknown = state === "unknown";
      const tainted = state === leg || state === "both";
      if (pass !== (isUnknown ? "unknown" : tainted ? "tainted" : "clean")) continue;
      const x = viewport.x(i);
      const w = Math.max(1, cell - gap);
      if (x + w <= painted) continue;
      painted = x + w;
      if (pass === "clean") {
        context.fillStyle = colors.faint;
        context.fillRect(x, top, w, TRACK);
        context.fillStyle = colors.quiet;
        if (cell >= 10) context.fillRect(x + w / 2 - 1, top + TRACK / 2 - 1, 2, 2);
      } else if (pass === "unknown") {
        context.fillStyle = diagonals(context, colors.quiet, colors.paper, 6, 1.6);
        context.fillRect(x, top, w, TRACK);
        if (cell >= 14) letter(context, colors.ink, colors.paper, "?", x + w / 2, top);
      } else {
        context.fillStyle = data.colors[leg];
        context.fillRect(x, top, w, TRACK);
        if (cell >= 14) letter(context, leg === "private" ? "#ffffff" : "#1d1400", null, leg[0].toUpperCase(), x + w / 2, top);
      }
    }
  }

  function letter(context, color, back, text, x, top) {
    context.font = `600 11px ${theme(frame).font}`;
    context.textAlign = "center";
    if (back) {
      context.fillStyle = back;
      context.fillRect(x - 5, top + 4, 10, TRACK - 8);
    }
    context.fillStyle = color;
    context.fillText(text, x, top + TRACK / 2 + 4);
    context.textAlign = "left";
  }

  /** One question mark per stretch of narrow unknown cells, wherever it has room. */
  function marksOfUnknown(context, colors, tops, first, last, cell) {
    for (let i = first; i < last; ) {
      if (rows.state[i] !== "unknown" || isHidden(i)) {
        i += 1;
        continue;
      }
      let end = i;
      while (end < last && (rows.state[end] === "unknown" || rows.state[end] === null)) end += 1;
      if ((end - i) * cell >= 12) for (const leg of LEGS) letter(context, colors.ink, colors.paper, "?", viewport.x((i + end) / 2), tops[leg]);
      i = end;
    }
  }

  function drawEvents(context, colors, first, last, cell) {
    const painted = {};
    context.textAlign = "center";
    context.font = `11px ${colors.font}`;
    for (let i = first; i < last; i += 1) {
      const kind = rows.kind[i];
      if (kind === "message" || isHidden(i)) continue;
      const x = viewport.x(i + 0.5);
      if (kind === "rewrite") {
        context.fillStyle = colors.ink;
        for (let y = RIBBON_TOP - 4; y < EVENT_TOP; y += 5) context.fillRect(x - 0.75, y, 1.5, 3);
      } else if (kind === "checkpoint" && cell > 3) {
        context.fillStyle = colors.ink;
        context.fillRect(x - 0.5, RIBBON_TOP, 1, EVENT_TOP - RIBBON_TOP);
      }
      if (x - (painted[kind] ?? -Infinity) < 9) continue;
      painted[kind] = x;
      context.fillStyle = kind === "rewrite" ? colors.alarm : colors.ink;
      context.fillText(EVENT_GLYPHS[kind], x, EVENT_TOP + 10);
    }
    context.textAlign = "left";
  }

  /** Where the list stands: a frame for the current row, a bar for the rows in sight. */
  function drawPlace(context, colors, cell) {
    const top = listed[Math.floor(list.scrollTop / ROW)];
    const bottom = listed[Math.min(listed.length - 1, Math.floor((list.scrollTop + list.clientHeight - 1) / ROW))];
    context.fillStyle = colors.focus;
    if (top !== undefined && list.scrollHeight > list.clientHeight + 1) {
      context.fillRect(viewport.x(top), RIBBON_HEIGHT - 3, Math.max(4, viewport.x(bottom + 1) - viewport.x(top)), 3);
    }
    context.strokeStyle = colors.focus;
    if (cursor >= 0) {
      context.lineWidth = 2;
      context.strokeRect(viewport.x(cursor) - 1, RIBBON_TOP - 3, Math.max(4, cell) + 1, EVENT_TOP - RIBBON_TOP + 1);
    }
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
  function rowElement(i, place) {
    const isMessage = rows.kind[i] === "message";
    const attributes = {
      class: `sl-row sl-row-${rows.kind[i]}`, role: "option", id: `${prefix}-${i}`, "data-row": i, "data-state": rows.state[i],
      "aria-selected": String(i === cursor), "aria-setsize": listed.length, "aria-posinset": place + 1, "aria-label": sentence(i),
      style: `top: ${place * ROW}px`, onclick: () => select(i),
    };
    if (!isMessage) {
      return h(
        "div", attributes,
        h("span", { class: "sl-event-glyph" }, EVENT_GLYPHS[rows.kind[i]]),
        h("span", { class: "sl-row-event" }, h("b", {}, data.events.find(({ key }) => key === rows.kind[i]).label), " · ", recorded(rows.told[i])),
      );
    }
    return h(
      "div", attributes,
      h("span", { class: "sl-row-position" }, rows.position[i] === null ? "" : String(rows.position[i])),
      stateBadge(rows.state[i]),
      h("span", { class: "sl-row-state" }, states.get(rows.state[i]).label),
      h("span", { class: "sl-row-voice" }, recorded(rows.voice[i] ?? rows.role[i] ?? "voice not told"), rows.name[i] && h("span", { class: "sl-row-tool" }, " ", recorded(rows.name[i]))),
      recorded(rows.excerpt[i] ?? "", "sl-row-excerpt"),
    );
  }

  function sentence(i) {
    if (rows.kind[i] !== "message") return `${rows.kind[i]}: ${rows.told[i]}`;
    return [`message ${rows.position[i] ?? "without position"}`, states.get(rows.state[i]).label, rows.voice[i], rows.name[i], rows.excerpt[i]].filter(Boolean).join(", ");
  }

  // --- choosing -------------------------------------------------------------------------------------------------
  const yesNo = (value) => (value === null ? "not told" : value ? "yes" : "no");

  function openPanel(i) {
    const isMessage = rows.kind[i] === "message";
    details.open({
      title: [h("b", {}, isMessage ? `message ${rows.position[i] ?? ""}` : rows.kind[i]), " ", isMessage ? recorded(rows.role[i] ?? "") : ""],
      facts: [
        ["taint", isMessage ? `${states.get(rows.state[i]).label}. ${states.get(rows.state[i]).meaning}` : rows.told[i]],
        ["covered by", !isMessage ? null : rows.covered_by_seq[i] === null ? "no checkpoint" : `checkpoint in entry ${rows.covered_by_seq[i]}`],
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
    else if ((place + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (place + 1) * ROW - list.clientHeight;
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
    ArrowUp: () => step(-1), ArrowDown: () => step(1), ArrowLeft: () => step(-1), ArrowRight: () => step(1),
    PageUp: () => step(-12), PageDown: () => step(12), Home: () => step("first"), End: () => step("last"),
    Enter: () => open(), " ": () => open(), Escape: () => select(-1),
  };
  function open() {
    if (cursor < 0) return;
    select(cursor);
    details.element.focus();
  }
  list.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (zoomKey(event, viewport) || (KEYS[event.key] && (KEYS[event.key](), true))) {
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
        h("div", { class: "sl-tip-head" }, isMessage ? stateBadge(rows.state[i]) : h("span", {}, EVENT_GLYPHS[rows.kind[i]]),
          h("b", {}, isMessage ? states.get(rows.state[i]).label : rows.kind[i])),
        h("div", { class: "sl-tip-facts" }, recorded(isMessage ? [`message ${rows.position[i] ?? ""}`, rows.voice[i], rows.name[i]].filter(Boolean).join(" · ") : rows.told[i])),
        ...(rows.excerpt[i] ? [h("div", { class: "sl-tip-excerpt" }, recorded(rows.excerpt[i]))] : []),
      ],
      event.clientX, event.clientY,
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
