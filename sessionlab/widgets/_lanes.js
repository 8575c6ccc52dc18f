// Part of the agent timeline: where every entry stands, how the lanes are drawn, and what lies under the pointer.

const PLACES = { clock: ["begin_at", "end_at"], elapsed: ["begin_ms", "end_ms"], order: ["begin_order", "end_order"] };
const SPAN_COLUMNS = [
  "span_id",
  "lane",
  "kind",
  "name",
  "forced",
  "status",
  "caller",
  "place",
  "reason",
  "run",
  "turn",
  "begin_order",
  "end_order",
  "begin_ms",
  "end_ms",
  "begin_at",
  "end_at",
  "length",
  "use",
  "written",
  "excerpt",
  "note",
];
const RUN_TOP = 5;
const MODEL_TOP = 10;
const MODEL_HEIGHT = 14;
const TOOL_TOP = 28;
const TOOL_HEIGHT = 12;
const TOOL_GAP = 2;
const MOST_TOOL_LINES = 4;
const LANE_HEIGHT = 48;
const MOST_HEIGHT = 520;
const MOST_BRANCHES = 12;
const LEAST_WIDTH = 3;
const LOUD_WIDTH = 10;
const FINAL = new Set(["stop", "ring"]);
const FINAL_WIDTH = 17;
const LOUD = new Set(["cross", "stop", "ring", "pinch", "fold", "dot"]);

/**
 * Where every entry stands on one axis, lane by lane; one without a place there is in none. Tools at work at the same
 * time get lines of their own. `heights`: what the label of each lane needs.
 */
function arrange(spans, lanes, marks, axis, heights) {
  const [from, to] = PLACES[axis];
  const count = spans.kind.length;
  const begin = Float64Array.from(spans[from], (value) => value ?? NaN);
  const step = axis === "order" ? 1 : 0;
  const end = Float64Array.from(spans[to], (value) => (value === null ? NaN : value + step));
  const line = new Uint8Array(count);
  const byLane = lanes.map(() => []);
  for (let i = 0; i < count; i += 1) {
    if (spans.kind[i] !== "agent" && !Number.isNaN(begin[i])) byLane[spans.lane[i]].push(i);
  }
  let top = 0;
  const boxes = byLane.map((members, lane) => {
    members.sort((a, b) => begin[a] - begin[b] || a - b);
    const free = [];
    for (const i of members) {
      if (marks.get(spans.kind[i]).track !== "tool") continue;
      let place = free.findIndex((until) => until <= begin[i]);
      if (place < 0) place = Math.min(free.length, MOST_TOOL_LINES - 1);
      line[i] = place;
      // a moment takes its line for a moment: another at the same time would hide it
      free[place] = Math.max(free[place] ?? -Infinity, end[i] > begin[i] ? end[i] : begin[i] + 1e-3);
    }
    const lines = LANE_HEIGHT + Math.max(0, free.length - 1) * (TOOL_HEIGHT + TOOL_GAP);
    const height = Math.max(lines, heights[lane] ?? 0);
    const box = { top, height, members };
    top += height;
    return box;
  });
  return { axis, begin, end, line, boxes, height: top };
}

/** Vertical place of an entry inside its lane. */
function trackOf(mark, line) {
  if (mark.track === "top") return [RUN_TOP, 4];
  if (mark.track === "model") return [MODEL_TOP, MODEL_HEIGHT];
  return [TOOL_TOP + line * (TOOL_HEIGHT + TOOL_GAP), TOOL_HEIGHT];
}

/** The drawing of all lanes. `state` is what the widget changes: hidden, only, cursor, selected, hasFocus, plan. */
function lanesDrawing({ data, spans, marks, viewport, scroll, canvas, axisCanvas, axisTitle, state }) {
  let colors = null;
  let plan = null;
  const glyphs = new Map(data.flags.map((flag) => [flag.key, flag.glyph]));

  function draw() {
    plan = state.plan;
    colors = theme(scroll);
    const width = scroll.clientWidth - axisTitle.offsetWidth;
    const height = scroll.clientHeight;
    if (width <= 0) return;
    viewport.resize(width, 9);
    const marksAt = ticks(viewport, plan.axis, data.clock_zero_ms);
    drawAxis(axisCanvas, viewport, state.axis, marksAt, width, state.axisHeight, colors);
    const context = surface(canvas, width, height);
    context.fillStyle = colors.faint;
    for (const { value } of marksAt) context.fillRect(Math.round(viewport.x(value)), 0, 1, height);
    drawBranches(context, height);
    const inSight = plan.boxes.flatMap((box, place) => (isInSight(box, height) ? [place] : []));
    for (const place of inSight) drawBand(context, place, plan.boxes[place].top - scroll.scrollTop, width);
    for (const x of tears(viewport)) {
      if (x > -10 && x < width + 10) drawTear(context, x, 0, height, viewport.foldWidth, colors, scroll.scrollTop);
    }
    for (const place of inSight) drawEntries(context, place, plan.boxes[place].top - scroll.scrollTop, width);
    drawCursor(context);
  }

  function isInSight({ top, height }, seen) {
    return top + height >= scroll.scrollTop && top <= scroll.scrollTop + seen;
  }

  /** A thin line from the lane of an agent's maker to where the agent begins. */
  function drawBranches(context, height) {
    context.strokeStyle = colors.quiet;
    context.globalAlpha = 0.45;
    context.setLineDash([2, 3]);
    data.lanes.forEach((lane, place) => {
      const first = plan.boxes[place].members[0];
      if (lane.parent === undefined || first === undefined) return;
      // in a crowd only the branch of the current lane is told from the others
      if (data.lanes.length > MOST_BRANCHES && place !== state.cursor.lane) return;
      const x =
        Math.round(viewport.x(Number.isNaN(plan.begin[lane.span] ?? NaN) ? plan.begin[first] : plan.begin[lane.span])) +
        0.5;
      const from = plan.boxes[lane.parent].top + LANE_HEIGHT - 10 - scroll.scrollTop;
      const to = plan.boxes[place].top + MODEL_TOP + MODEL_HEIGHT / 2 - scroll.scrollTop;
      if (Math.max(from, to) < 0 || Math.min(from, to) > height) return;
      context.beginPath();
      context.moveTo(x, from);
      context.lineTo(x, to);
      context.stroke();
    });
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  /** Left edge, width as drawn and true width of an entry in pixels; an entry without an end is a tick. */
  function extent(i) {
    const shape = marks.get(spans.kind[i])?.shape;
    // a ceiling stands behind what it stopped
    const late = shape === "stop" && !Number.isNaN(plan.end[i]);
    const x = viewport.x(late ? plan.end[i] : plan.begin[i]);
    if (FINAL.has(shape)) {
      // what ended an agent often stands at the very edge: it moves in, to be seen whole
      const edge = scroll.clientWidth - axisTitle.offsetWidth;
      return [x <= edge + 1 ? Math.min(x, edge - FINAL_WIDTH) : x, 0, 0];
    }
    if (Number.isNaN(plan.end[i])) return [x, 0, 0];
    const width = viewport.x(plan.end[i]) - x - (plan.axis === "order" ? 1 : 0.5);
    return [x, Math.max(LEAST_WIDTH, width), Math.max(0, width)];
  }

  /** From the first to the last of an agent, through folds and all. */
  function drawBand(context, place, top, width) {
    const agent = data.lanes[place].span;
    if (agent !== undefined && !Number.isNaN(plan.begin[agent])) {
      const [x, w] = extent(agent);
      context.fillStyle = colors.band;
      context.beginPath();
      context.roundRect(
        Math.max(-4, x),
        top + 4,
        Math.min(width + 8, x + w) - Math.max(-4, x),
        plan.boxes[place].height - 8,
        3,
      );
      context.fill();
    }
  }

  function drawEntries(context, place, top, width) {
    const { members } = plan.boxes[place];
    // quiet marks first, so that none of them hides an error, a limit or a compaction
    for (const loud of [false, true]) {
      const painted = new Map();
      for (const i of members) {
        const mark = marks.get(spans.kind[i]);
        if (state.hidden.has(mark.key) || LOUD.has(mark.shape) !== loud) continue;
        const [x, w, exact] = extent(i);
        if (x > width || x + Math.max(w, 12) < 0) continue;
        const status = spans.status[i];
        const dimmed = state.only.size && !(state.only.has(status) || (spans.forced[i] && state.only.has("forced")));
        const notable = ALARMING.has(status) || spans.forced[i];
        const key = `${mark.key} ${plan.line[i]} ${notable ? status : ""} ${dimmed ? 1 : 0}`;
        // what would lie under a mark of the same look is not drawn: strokes are as many as pixels, not as entries
        if (x + exact <= (painted.get(key) ?? -Infinity) - (loud ? LOUD_WIDTH / 2 : 0)) continue;
        painted.set(key, x + Math.max(w, loud ? LOUD_WIDTH : LEAST_WIDTH));
        const [offset, tall] = trackOf(mark, plan.line[i]);
        const from = Math.max(x, -6);
        const seen = Math.min(x + w, width + 6) - from;
        context.globalAlpha = dimmed ? 0.13 : 1;
        if (w) drawMark(context, mark, from, top + offset, seen, tall, colors, { forced: spans.forced[i], status });
        else drawTick(context, mark, x, top + offset, tall, status, spans.forced[i]);
        if (seen > 34 && !loud && mark.track !== "top" && spans.name[i])
          drawName(context, mark, spans.name[i], from, top + offset, seen, tall, status, spans.forced[i]);
      }
    }
    context.globalAlpha = 1;
  }

  function drawTick(context, mark, x, y, tall, status, forced) {
    if (LOUD.has(mark.shape)) {
      drawMark(context, mark, x, y, 3, tall, colors, { status });
      return;
    }
    context.fillStyle = mark.color === "ink" ? colors.ink : mark.color;
    context.fillRect(x, y - 1, 2, tall + 2);
    context.beginPath();
    context.moveTo(x - 2, y - 1);
    context.lineTo(x + 4, y - 1);
    context.lineTo(x + 1, y + 3);
    context.fill();
    if (ALARMING.has(status) || forced) {
      context.fillStyle = ALARMING.has(status) ? colors.alarm : colors.ink;
      context.fillRect(x - 2, y + tall - 1, 6, 2.5);
    }
  }

  function drawName(context, mark, name, x, y, width, height, status, forced) {
    const glyph = glyphs.has(status) ? `${glyphs.get(status)} ` : "";
    context.font = `${height > 12 ? 10.5 : 9.5}px ${colors.font}`;
    context.fillStyle = mark.shape === "outline" || OPEN_ENDED.has(status) ? colors.ink : mark.ink;
    const room = width - 8;
    let text = glyph + name;
    if (context.measureText(text).width > room) {
      const letters = Math.floor((text.length * room) / context.measureText(text).width) - 1;
      if (letters < 3) return;
      text = `${text.slice(0, letters)}…`;
    }
    const [left, base] = [Math.max(x, 0) + 4, y + height / 2 + (height > 12 ? 3.7 : 3.3)];
    if (forced) {
      // the letters would drown in the hatching of a forced call
      context.strokeStyle = mark.color;
      context.lineWidth = 4;
      context.lineJoin = "round";
      context.strokeText(text, left, base);
    }
    context.fillText(text, left, base);
  }

  function drawCursor(context) {
    const chosen = state.selected;
    for (const [i, color, shown] of [
      [chosen, colors.ink, true],
      [state.cursor.span, colors.focus, state.hasFocus],
    ]) {
      if (i === undefined || i < 0 || !shown || spans.kind[i] === "agent" || Number.isNaN(plan.begin[i])) continue;
      const [x, w] = extent(i);
      const [offset, tall] = trackOf(marks.get(spans.kind[i]), plan.line[i]);
      context.strokeStyle = color;
      context.lineWidth = 2;
      context.beginPath();
      context.roundRect(
        x - 3,
        plan.boxes[spans.lane[i]].top - scroll.scrollTop + offset - 3,
        (FINAL.has(marks.get(spans.kind[i]).shape) ? FINAL_WIDTH - 2 : Math.max(w, 6)) + 6,
        tall + 6,
        4,
      );
      context.stroke();
    }
  }

  function under(event) {
    const box = scroll.getBoundingClientRect();
    const x = event.clientX - box.left - axisTitle.offsetWidth;
    plan = state.plan;
    const y = event.clientY - box.top + scroll.scrollTop;
    const place = plan.boxes.findIndex(({ top, height }) => y >= top && y < top + height);
    if (place < 0 || x < 0) return { lane: place, hits: [], fold: -1 };
    const hits = [];
    for (const i of plan.boxes[place].members) {
      const mark = marks.get(spans.kind[i]);
      if (state.hidden.has(mark.key)) continue;
      const [left, w] = extent(i);
      const [offset, tall] = trackOf(mark, plan.line[i]);
      const level = y - plan.boxes[place].top - offset;
      const wide = LOUD.has(mark.shape) ? Math.max(w, LOUD_WIDTH) : w;
      if (x >= left - 3 && x <= left + wide + 3 && level >= -3 && level <= tall + 2)
        hits.push({ i, loud: LOUD.has(mark.shape), w });
    }
    hits.sort((a, b) => b.loud - a.loud || a.w - b.w);
    return { lane: place, hits: hits.map(({ i }) => i), fold: viewport.foldAt(x) };
  }

  return { draw, under };
}
