// Part of the agent timeline: the label of a lane, with its agent's origin, status and number of entries.

const LABEL_PADDING = 13;
const AGENT_GLYPHS = { running: "▸", blocked: "‖", done: "✓", failed: "✕" };

/** A lane: its label, and room for a note where it is empty. `chosen()` is called for a click on the label. */
function laneElement(lane, place, chosen) {
  const status = lane.status && `${AGENT_GLYPHS[lane.status] ?? ""} ${lane.status}`.trim();
  const ceiling = lane.reason && `◆ ${lane.reason.replaceAll("_", " ")}`;
  const told = [lane.origin === lane.label ? null : lane.origin, status, ceiling, lane.session];
  return h(
    "div",
    { class: "sl-lane", "data-lane": place, "data-status": lane.status },
    h(
      "button",
      {
        type: "button",
        class: `sl-lane-label${lane.depth ? " sl-lane-nested" : ""}`,
        tabindex: "-1",
        style: `padding-left: ${10 + Math.min(lane.depth, 8) * 14}px`,
        title: [lane.label, lane.agent].filter((part, i, all) => all.indexOf(part) === i).join(" · "),
        onclick: chosen,
      },
      h(
        "span",
        { class: "sl-lane-name" },
        lane.depth ? [h("span", { class: "sl-branch", "aria-hidden": "true" }, "└"), " "] : null,
        recorded(lane.label),
      ),
      h(
        "span",
        { class: "sl-lane-told" },
        recorded(told.filter(Boolean).join(" · ")),
        h("span", { title: lane.count }, lane.entries.toLocaleString("en-US")),
      ),
    ),
    h("div", { class: "sl-lane-note" }),
  );
}

/** How tall a lane must be for its label to be read whole. */
function labelHeight({ firstChild: { firstChild: name, lastChild: told } }) {
  return name.offsetHeight + told.offsetHeight + LABEL_PADDING;
}
