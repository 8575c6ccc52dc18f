// Part of the agent timeline: what is said about one entry, in a line, in the hover box and in the panel.

const INSTANTS = new Set(["message", "rewrite", "limit"]);

/** The words for entries, by their place in `spans`. */
function entryWords({ data, spans, marks, axes, texts, frame, state }) {
  /** Moments have no status unless one is recorded; work that tells none has an unknown one. */
  function statusOf(i) {
    return spans.status[i] ?? (INSTANTS.has(spans.kind[i]) ? null : "status unknown");
  }

  function sentence(i) {
    const lane = data.lanes[spans.lane[i]];
    const parts = [
      marks.get(spans.kind[i]).label,
      spans.name[i],
      spans.forced[i] && "forced",
      statusOf(i),
      spans.length[i],
      spans.use[i],
      `of ${lane.label}`,
    ];
    return parts.filter(Boolean).join(", ");
  }

  function tipNodes(i, others) {
    const mark = marks.get(spans.kind[i]);
    const picture = swatch((context) =>
      drawMark(context, mark, LOUD.has(mark.shape) ? 5 : 1, 2, LOUD.has(mark.shape) ? 7 : 18, 10, theme(frame), {
        forced: spans.forced[i],
        status: spans.status[i],
      }),
    );
    picture.redraw();
    const facts = [
      spans.forced[i] ? "forced" : null,
      statusOf(i),
      spans.reason[i],
      spans.length[i] ?? (Number.isNaN(state.plan.end[i]) && !INSTANTS.has(spans.kind[i]) ? "end not told" : null),
      spans.place[i] && spans.place[i] !== "." ? `in ${spans.place[i]}` : null,
    ]
      .filter(Boolean)
      .join(" · ");
    return [
      h("div", { class: "sl-tip-head" }, picture, h("b", {}, mark.label), spans.name[i] && recorded(spans.name[i])),
      h("div", { class: "sl-tip-facts" }, recorded(facts)),
      (spans.use[i] || spans.written[i]) &&
        h(
          "div",
          { class: "sl-tip-facts" },
          [spans.use[i], spans.written[i] && `${spans.written[i]} out`].filter(Boolean).join(" · "),
        ),
      spans.excerpt[i] && h("div", { class: "sl-tip-excerpt" }, recorded(spans.excerpt[i])),
      spans.note[i] && h("div", { class: "sl-tip-note" }, recorded(spans.note[i])),
      others > 0 &&
        h("div", { class: "sl-tip-note" }, `${others.toLocaleString("en-US")} more here: zoom in to part them`),
    ].filter(Boolean);
  }

  function instant(place, other) {
    if (place === null) return null;
    const begin = new Date(data.clock_zero_ms + place).toISOString().replace("T", " ").slice(0, 23);
    const end = other === null ? "" : ` – ${new Date(data.clock_zero_ms + other).toISOString().slice(11, 23)}`;
    return `${begin}${end} UTC`;
  }

  function panelContent(i) {
    const lane = data.lanes[spans.lane[i]];
    const isAgent = spans.kind[i] === "agent";
    const mark = isAgent ? null : marks.get(spans.kind[i]);
    const order = spans.begin_order[i];
    return {
      title: [
        h("b", {}, isAgent ? "agent" : mark.label),
        " ",
        recorded(spans.name[i] ?? ""),
        " ",
        spans.forced[i] ? h("span", { class: "sl-badge" }, "forced") : "",
      ],
      facts: [
        ["status", [statusOf(i)?.replace("status ", ""), spans.reason[i]].filter(Boolean).join(": ")],
        ["agent", isAgent ? lane.agent : lane.label],
        [
          "origin",
          [lane.origin, lane.parent !== undefined && `from ${data.lanes[lane.parent].label}`].filter(Boolean).join(" "),
        ],
        ["entries", isAgent ? lane.count : null],
        ["asked for by", spans.caller[i]],
        ["forced", spans.forced[i] ? "yes: the model had to call the one tool offered" : null],
        ["place", spans.place[i]],
        [
          "run, turn",
          [spans.run[i], spans.turn[i]].some((n) => n !== null)
            ? [spans.run[i] ?? "–", spans.turn[i] ?? "–"].join(", ")
            : null,
        ],
        ["time", instant(spans.begin_at[i], spans.end_at[i]) ?? (axes.has("elapsed") ? null : "not told")],
        ["since the start", spans.begin_ms[i] === null ? null : tickText("elapsed", spans.begin_ms[i], 1)],
        ["took", spans.length[i]],
        ["window", spans.use[i]],
        ["written", spans.written[i]],
        [
          "in order",
          order === null
            ? null
            : [order, spans.end_order[i]].filter((n, k) => n !== null && (k === 0 || n !== order)).join(" – "),
        ],
        ["note", spans.note[i]],
        ["excerpt", texts.has(i) ? null : spans.excerpt[i]],
      ],
      groups: Object.entries(texts.get(i) ?? {}).map(([part, items]) => ({
        title: PART_TITLES[part] ?? part,
        items,
        folded: part === "window" && items.length > 4,
      })),
      hint:
        isAgent || texts.has(i)
          ? null
          : data.details
            ? "No texts are recorded for this entry."
            : "This timeline was made without details.",
    };
  }

  return { sentence, tipNodes, panelContent };
}
