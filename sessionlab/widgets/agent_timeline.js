// Draws the payload of sessionlab/widgets/_spans.py: a lane per agent, its entries as marks. All figures come with it.

const AXIS_PADDING = 8;

function render({ model, el }) {
  const data = JSON.parse(model.get("payload"));
  const stop = new AbortController();
  const frame = root(el, `Agent timeline: ${data.summary}`);
  const cleanup = () => {
    stop.abort();
    frame.remove();
  };
  if (!data.lanes.length) {
    frame.append(
      h("p", { class: "sl-empty" }, "No agents and no entries in the table given."),
      notices(data.notices) ?? "",
    );
    return cleanup;
  }

  const marks = new Map(data.legend.map((mark) => [mark.key, mark]));
  const spans = Object.fromEntries(SPAN_COLUMNS.map((name) => [name, column(data.spans, name)]));
  const byId = new Map();
  spans.span_id.forEach((id, i) => byId.has(id) || byId.set(id, i));
  const texts = textsBySpan(data.details);
  const axes = new Map(data.axes.map((axis) => [axis.key, axis]));
  const state = {
    hidden: new Set(),
    only: new Set(),
    axis: null, // the axis in use, as the payload has it
    axisHeight: AXIS_HEIGHT,
    plan: null,
    measured: 0, // width of the labels when their heights were taken
    unfolded: false,
    cursor: { lane: 0, span: -1 },
    selected: undefined,
    hasFocus: false,
  };

  // --- the parts of the page ---------------------------------------------------------------------------------
  const lanesBox = h("div", { class: "sl-lanes" });
  const scroll = h("div", { class: "sl-scroll" }, lanesBox);
  const canvas = h("canvas", { class: "sl-marks", "aria-hidden": "true" });
  const axisCanvas = h("canvas", { class: "sl-axis", "aria-hidden": "true" });
  const axisTitle = h("div", { class: "sl-axis-title" });
  const chart = h(
    "div",
    {
      class: "sl-chart",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "timeline",
      "aria-label":
        `${data.summary}. Left and right arrow: entries of a lane. Up and down: lanes. ` +
        "Enter: details. Escape: close. Plus, minus, zero: zoom. Shift and arrows: move.",
    },
    h("div", { class: "sl-axis-row" }, axisTitle, axisCanvas),
    h("div", { class: "sl-stage" }, scroll, canvas),
  );
  const viewport = new Viewport([0, 1], 1, () => redraw());
  const details = panel(() => {
    select("");
    chart.focus();
  });
  const foldButton = h(
    "button",
    {
      type: "button",
      class: "sl-button sl-fold",
      onclick: () => {
        state.unfolded = !state.unfolded;
        viewport.fold(shownFolds());
        showAxis();
        layOut();
        redraw();
      },
    },
    "fold idle",
  );
  const axisButtons = data.axes.map((axis) =>
    h(
      "button",
      {
        type: "button",
        class: "sl-button",
        "data-axis": axis.key,
        title: [axis.label, axis.remark].filter(Boolean).join(" · "),
        onclick: () => setAxis(axis.key),
      },
      axis.key,
    ),
  );
  const flagKeys = data.flags.map((flag) =>
    legendKey(
      { ...flag, pressed: false, title: "Show these, dim the others" },
      h("span", { class: "sl-glyph" }, flag.glyph),
      (on) => {
        on ? state.only.add(flag.key) : state.only.delete(flag.key);
        redraw();
      },
    ),
  );
  const kindKeys = data.legend.map((mark) =>
    legendKey(
      { ...mark, pressed: true, title: "Show or hide" },
      swatch((context) => {
        const tall = mark.track === "top" ? 4 : 10;
        const narrow = LOUD.has(mark.shape);
        drawMark(context, mark, narrow ? 5 : 1, (14 - tall) / 2, narrow ? 7 : 18, tall, theme(frame));
      }),
      (on) => {
        on ? state.hidden.delete(mark.key) : state.hidden.add(mark.key);
        redraw();
      },
    ),
  );
  frame.append(
    h(
      "div",
      { class: "sl-bar" },
      h("strong", {}, data.summary),
      h("span", { class: "sl-space" }),
      foldButton,
      data.axes.length > 1
        ? h("div", { class: "sl-switch", role: "group", "aria-label": "Axis" }, axisButtons)
        : null,
      zoomButtons(viewport),
    ),
    notices(data.notices) ?? "",
    h("div", { class: "sl-legend", role: "group", "aria-label": "Kinds of entries shown" }, kindKeys),
    flagKeys.length
      ? h(
          "div",
          { class: "sl-legend sl-highlights", role: "group", "aria-label": "Highlight" },
          h("span", { class: "sl-legend-title" }, "highlight"),
          flagKeys,
        )
      : "",
    h("div", { class: "sl-body" }, chart, details.element),
    h(
      "p",
      { class: "sl-keys", "aria-hidden": "true" },
      "← → entries   ↑ ↓ agents   Enter details   + − 0 zoom   Ctrl + wheel zoom   drag to move",
    ),
  );
  const tip = tooltip(frame);
  const say = speaker(frame);
  const laneElements = data.lanes.map((lane, place) =>
    laneElement(lane, place, () => {
      state.cursor = { lane: place, span: -1 };
      if (lane.span !== undefined) select(spans.span_id[lane.span]);
      redraw();
    }),
  );
  lanesBox.append(...laneElements);

  // --- drawing ------------------------------------------------------------------------------------------------
  function setAxis(key) {
    if (model.get("axis") !== key) {
      model.set("axis", key);
      model.save_changes();
    }
    if (state.axis?.key === key) return;
    state.axis = axes.get(key);
    viewport.reset(state.axis.range, key === "order" ? 4 : 10, shownFolds());
    const bare = new Set(state.axis.bare);
    data.lanes.forEach((lane, place) => {
      const note = laneElements[place].lastChild;
      note.hidden = lane.entries > 0 && !bare.has(place);
      note.replaceChildren(recorded(lane.entries ? state.axis.bare_note : lane.note));
    });
    axisButtons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.axis === key)));
    showAxis();
    layOut();
    redraw();
  }

  function shownFolds() {
    return state.unfolded ? [] : state.axis.folds;
  }

  /** The title of the axis, what it leaves out, and whether it is folded. */
  function showAxis() {
    const { label, remark, folded } = state.axis;
    axisTitle.replaceChildren(h("span", {}, label), remark ? h("span", { class: "sl-axis-remark" }, remark) : "");
    axisTitle.title = [label, remark].filter(Boolean).join(" · ");
    foldButton.hidden = !folded;
    foldButton.title = folded ?? "";
    foldButton.setAttribute("aria-pressed", String(!state.unfolded));
  }

  /** Gives the axis and every lane the height that labels and entries need. */
  function layOut() {
    state.measured = axisTitle.offsetWidth;
    const lines = [...axisTitle.children].reduce((sum, line) => sum + line.offsetHeight, AXIS_PADDING);
    state.axisHeight = Math.max(lines, state.axis.folds.length ? AXIS_TALL : AXIS_HEIGHT);
    axisTitle.style.height = `${state.axisHeight}px`;
    const heights = laneElements.map((element) => (state.measured ? labelHeight(element) : 0));
    state.plan = arrange(spans, data.lanes, marks, state.axis.key, heights);
    lanesBox.style.height = `${state.plan.height}px`;
    laneElements.forEach((element, place) => {
      element.style.top = `${state.plan.boxes[place].top}px`;
      element.style.height = `${state.plan.boxes[place].height}px`;
    });
    scroll.style.height = `${Math.min(state.plan.height, model.get("height") ?? MOST_HEIGHT)}px`;
  }

  const words = entryWords({ data, spans, marks, texts, frame, state });
  const drawing = lanesDrawing({ data, spans, marks, viewport, scroll, canvas, axisCanvas, axisTitle, state });
  function draw() {
    if (!frame.isConnected || !state.plan) return;
    // before it is in a page, and in a narrower one, labels have other heights
    if (state.measured !== axisTitle.offsetWidth) layOut();
    kindKeys.forEach((key) => key.firstChild.redraw());
    state.selected = byId.get(model.get("selected"));
    state.hasFocus = document.activeElement === chart;
    drawing.draw();
    laneElements.forEach((element, place) => {
      element.classList.toggle("sl-lane-current", state.hasFocus && place === state.cursor.lane);
      element.classList.toggle("sl-lane-chosen", state.selected !== undefined && spans.lane[state.selected] === place);
    });
  }

  // --- moving and choosing ------------------------------------------------------------------------------------
  function select(id) {
    if (model.get("selected") !== id) {
      model.set("selected", id);
      model.save_changes();
    }
    showSelected();
  }

  function showSelected() {
    const i = byId.get(model.get("selected"));
    if (i === undefined) details.close();
    else {
      state.cursor = { lane: spans.lane[i], span: spans.kind[i] === "agent" ? -1 : i };
      details.open(words.panelContent(i));
    }
    redraw();
  }

  function shownMembers(lane) {
    return state.plan.boxes[lane].members.filter((i) => !state.hidden.has(spans.kind[i]));
  }

  function moveTo(lane, span) {
    state.cursor = { lane, span };
    const { top, height } = state.plan.boxes[lane];
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + height > scroll.scrollTop + scroll.clientHeight)
      scroll.scrollTop = top + height - scroll.clientHeight;
    if (span >= 0) viewport.reveal(state.plan.begin[span]);
    const told = data.lanes[lane];
    say(
      span >= 0
        ? words.sentence(span)
        : [told.label, told.origin, told.status, told.entries ? told.count : told.note, bareNote(lane)]
            .filter(Boolean)
            .join(", "),
    );
    redraw();
  }

  function bareNote(lane) {
    return state.axis.bare.includes(lane) ? state.axis.bare_note : null;
  }

  function step(by) {
    const members = shownMembers(state.cursor.lane);
    if (!members.length) return;
    const now = members.indexOf(state.cursor.span);
    const next = by === "first" ? 0 : by === "last" ? members.length - 1 : now < 0 ? 0 : now + by;
    moveTo(state.cursor.lane, members[Math.max(0, Math.min(members.length - 1, next))]);
  }

  function changeLane(by) {
    const lane = Math.max(0, Math.min(data.lanes.length - 1, state.cursor.lane + by));
    const members = shownMembers(lane);
    const here = state.cursor.span >= 0 ? state.plan.begin[state.cursor.span] : viewport.view[0];
    const nearest = members.reduce(
      (best, i) =>
        best < 0 || Math.abs(state.plan.begin[i] - here) < Math.abs(state.plan.begin[best] - here) ? i : best,
      -1,
    );
    moveTo(lane, nearest);
  }

  const KEYS = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    Home: () => step("first"),
    End: () => step("last"),
    ArrowUp: () => changeLane(-1),
    ArrowDown: () => changeLane(1),
    PageUp: () => changeLane(-10),
    PageDown: () => changeLane(10),
    Enter: () => open(),
    " ": () => open(),
    Escape: () => select(""),
  };
  function open() {
    const i = state.cursor.span >= 0 ? state.cursor.span : data.lanes[state.cursor.lane].span;
    if (i === undefined) return;
    select(spans.span_id[i]);
    details.element.focus();
  }
  chart.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (
      zoomKey(event, viewport, state.plan.begin[state.cursor.span]) ||
      (KEYS[event.key] && (KEYS[event.key](), true))
    ) {
      event.preventDefault();
      event.stopPropagation();
      tip.hide();
    }
  });
  chart.addEventListener("focus", () => {
    if (state.cursor.span < 0) step("first");
    redraw();
  });
  chart.addEventListener("blur", () => redraw());
  scroll.addEventListener("pointermove", (event) => {
    const { hits, fold } = drawing.under(event);
    scroll.style.cursor = hits.length ? "pointer" : "";
    if (scroll.classList.contains("sl-dragging")) tip.hide();
    else if (hits.length) tip.show(words.tipNodes(hits[0], hits.length - 1), event.clientX, event.clientY);
    else tipFold(fold, event);
  });
  function tipFold(fold, event) {
    if (fold < 0) tip.hide();
    else tip.show(words.foldNodes(fold), event.clientX, event.clientY);
  }
  axisCanvas.addEventListener("pointermove", (event) => tipFold(viewport.foldAt(event.offsetX), event));
  for (const element of [scroll, axisCanvas]) element.addEventListener("pointerleave", () => tip.hide());
  scroll.addEventListener("click", (event) => {
    if (event.target.closest("button") || scroll.classList.contains("sl-dragging")) return;
    const { hits } = drawing.under(event);
    tip.hide();
    if (hits.length) select(spans.span_id[hits[0]]);
  });
  scroll.addEventListener("scroll", () => redraw());
  steer(scroll, viewport, () => scroll.getBoundingClientRect().left + axisTitle.offsetWidth, stop.signal);

  const onAxis = () => setAxis(model.get("axis"));
  model.on("change:axis", onAxis);
  model.on("change:selected", showSelected);
  stop.signal.addEventListener("abort", () => {
    model.off("change:axis", onAxis);
    model.off("change:selected", showSelected);
  });
  const redraw = watch(scroll, draw, stop.signal);
  setAxis(model.get("axis"));
  showSelected();
  return cleanup;
}

export default { render };
