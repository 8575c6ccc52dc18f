// Part of the agent timeline: what is said about one entry, in a line, in the hover box and in the panel.

const PART_TITLES = {
  message: "Message",
  window: "Window",
  response: "Response",
  arguments: "Arguments",
  output: "Output",
  stderr: "Standard error",
  error: "Error",
  summary: "Summary",
  probes: "Cancel probes",
};

const INSTANTS = new Set(["message", "rewrite", "limit", "probe"]);

/** The words for entries, by their place in `spans`. */
function entryWords({ data, spans, marks, texts, frame, state }) {
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

  /** A time of day in UTC, or two; the day of the second where it is another one. */
  function instant(place, other) {
    if (place === null) return null;
    const [begin, end] = [place, other ?? place].map((ms) =>
      new Date(data.clock_zero_ms + ms).toISOString().replace("T", " ").slice(0, 23),
    );
    if (other === null) return `${begin} UTC`;
    return `${begin} – ${begin.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end} UTC`;
  }

  /** What a fold leaves out: how long, from when to when. */
  function foldNodes(k) {
    const { key, folds, idle } = state.axis;
    const [from, to] = folds[k];
    const since = [from, to].map((ms) => tickText("elapsed", ms, 1)).join(" – ");
    return [
      h("div", { class: "sl-tip-head" }, h("b", {}, idle[k])),
      h("div", { class: "sl-tip-facts" }, key === "clock" ? instant(from, to) : since),
      h("div", { class: "sl-tip-note" }, "nothing was at work: folded here"),
    ];
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
        spans.kind[i] === "limit"
          ? ["ceiling", spans.reason[i]?.replaceAll("_", " ")]
          : ["status", [statusOf(i)?.replace("status ", ""), spans.reason[i]].filter(Boolean).join(": ")],
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
        ["time", instant(spans.begin_at[i], spans.end_at[i]) ?? (spans.begin_ms[i] === null ? "not told" : null)],
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

  return { sentence, tipNodes, foldNodes, panelContent };
}

/** The texts of the details, by entry and part, in the order the panel tells them. */
function textsBySpan(packed) {
  const bySpan = new Map();
  if (!packed) return bySpan;
  const [span, part, label, size, remark, text] = ["span", "part", "label", "size", "remark", "text"].map((name) =>
    column(packed, name),
  );
  for (let i = 0; i < packed.count; i += 1) {
    if (!bySpan.has(span[i])) bySpan.set(span[i], {});
    (bySpan.get(span[i])[part[i]] ??= []).push({ label: label[i], size: size[i], remark: remark[i], text: text[i] });
  }
  const rank = Object.keys(PART_TITLES);
  for (const [i, parts] of bySpan) {
    bySpan.set(i, Object.fromEntries(Object.entries(parts).sort(([a], [b]) => rank.indexOf(a) - rank.indexOf(b))));
  }
  return bySpan;
}
