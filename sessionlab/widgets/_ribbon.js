// Part of the taint timeline: the ribbon of all messages, a cell for each in two lines, one per leg of taint.

const GUTTER = 92;
const TRACK = 20;
const TRACK_GAP = 5;
const WIDEST_CELL = 30;
const MARK_APART = 90;
const RIBBON_TOP = 6;
const EVENT_TOP = RIBBON_TOP + 2 * TRACK + TRACK_GAP + 4;
const RIBBON_HEIGHT = EVENT_TOP + 36;
const EVENT_GLYPHS = { checkpoint: "▲", rewrite: "↺", extend: "+" };
const LEGS = ["private", "untrusted"];
const INKS = { private: "#ffffff", untrusted: "#1d1400" };

/** The ribbon. `state` tells what changes: isHidden(row), cursor, inSight() as first and last row of the list in sight. */
function ribbonDrawing({ data, rows, viewport, canvas, state }) {
  const count = data.rows.count;

  function draw() {
    const colors = theme(canvas);
    const width = canvas.parentElement.clientWidth;
    if (width <= GUTTER) return;
    viewport.resize(Math.min(width - GUTTER - 8, count * WIDEST_CELL));
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
  }

  function cells(context, colors, pass, leg, top, first, last, cell, gap) {
    let painted = -Infinity;
    for (let i = first; i < last; i += 1) {
      const taint = rows.state[i];
      if (!taint || state.isHidden(i)) continue;
      const isUnknown = taint === "unknown";
      const tainted = taint === leg || taint === "both";
      if (pass !== (isUnknown ? "unknown" : tainted ? "tainted" : "clean")) continue;
      const x = viewport.x(i);
      const w = Math.max(1, cell - gap);
      // under a pixel that is painted already: strokes are as many as pixels, not as rows
      if (x + cell - gap <= painted) continue;
      painted = x + w;
      if (pass === "clean") {
        context.fillStyle = colors.faint;
        context.fillRect(x, top, w, TRACK);
        context.fillStyle = colors.quiet;
        if (cell >= 10) context.fillRect(x + w / 2 - 1, top + TRACK / 2 - 1, 2, 2);
      } else if (pass === "unknown") {
        context.fillStyle = diagonals(context, colors.quiet, colors.paper, 6, 1.6);
        context.fillRect(x, top, w, TRACK);
        if (cell >= 14) letter(context, colors, "?", x + w / 2, top);
      } else {
        context.fillStyle = data.colors[leg];
        context.fillRect(x, top, w, TRACK);
        if (cell >= 14) letter(context, colors, leg[0].toUpperCase(), x + w / 2, top, INKS[leg]);
      }
    }
  }

  /** A letter in a cell: in `ink` on the cell's own fill, or on a clear spot of paper where that is hatched. */
  function letter(context, colors, text, x, top, ink = null) {
    context.font = `600 11px ${colors.font}`;
    context.textAlign = "center";
    if (!ink) {
      context.fillStyle = colors.paper;
      context.fillRect(x - 5, top + 4, 10, TRACK - 8);
    }
    context.fillStyle = ink ?? colors.ink;
    context.fillText(text, x, top + TRACK / 2 + 4);
    context.textAlign = "left";
  }

  /** Question marks over a stretch of narrow unknown cells, as many as it has room for. */
  function marksOfUnknown(context, colors, tops, first, last, cell) {
    for (let i = first; i < last;) {
      if (rows.state[i] !== "unknown" || state.isHidden(i)) {
        i += 1;
        continue;
      }
      let end = i;
      while (end < last && (rows.state[end] === "unknown" || rows.state[end] === null)) end += 1;
      const [left, width] = [viewport.x(i), (end - i) * cell];
      const marks = width < 12 ? 0 : Math.max(1, Math.round(width / MARK_APART));
      for (let n = 0; n < marks; n += 1) {
        for (const leg of LEGS) letter(context, colors, "?", left + (width * (n + 0.5)) / marks, tops[leg]);
      }
      i = end;
    }
  }

  function drawEvents(context, colors, first, last, cell) {
    const painted = {};
    context.textAlign = "center";
    context.font = `11px ${colors.font}`;
    for (let i = first; i < last; i += 1) {
      const kind = rows.kind[i];
      if (kind === "message" || state.isHidden(i)) continue;
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
    const [top, bottom] = state.inSight();
    context.fillStyle = colors.focus;
    if (top !== undefined && bottom - top + 1 < count) {
      context.fillRect(viewport.x(top), RIBBON_HEIGHT - 3, Math.max(4, viewport.x(bottom + 1) - viewport.x(top)), 3);
    }
    context.strokeStyle = colors.focus;
    if (state.cursor >= 0) {
      context.lineWidth = 2;
      context.strokeRect(
        viewport.x(state.cursor) - 1,
        RIBBON_TOP - 3,
        Math.max(4, cell) + 1,
        EVENT_TOP - RIBBON_TOP + 1,
      );
    }
  }

  return { draw };
}
