// Part of the agent timeline: ticks and the length of folds in the row above the lanes, and the mark of a fold.

const AXIS_HEIGHT = 24;
const AXIS_TALL = 40;
const TEAR = { half: 3, tooth: 4 };

/** `axis` is one of the payload's: its `idle` words belong to its `folds`, drawn while the viewport has them. */
function drawAxis(canvas, viewport, axis, marks, width, height, colors) {
  const context = surface(canvas, width, height);
  const foot = height - 3;
  context.fillStyle = colors.quiet;
  context.font = `11px ${colors.font}`;
  let reached = -Infinity;
  for (const { value, text } of marks) {
    const x = Math.round(viewport.x(value));
    context.fillRect(x, foot - 6, 1, 6);
    const room = context.measureText(text).width;
    if (x + 4 + room > width || x + 4 < reached) continue;
    context.fillText(text, x + 4, foot - 6);
    reached = x + 4 + room + 8;
  }
  drawIdleWords(context, viewport, axis, width, colors);
  for (const x of tears(viewport)) drawTear(context, x, foot - 7, height, viewport.foldWidth, colors, 0);
  if (viewport.whole) return;
  const [from, length] = viewport.share;
  context.fillStyle = colors.rule;
  context.fillRect(0, foot, width, 3);
  context.fillStyle = colors.focus;
  context.fillRect(from * width, foot, Math.max(6, length * width), 3);
}

/** How long each fold in view was idle, over it; in short, or left to hovering, where the one before leaves no room. */
function drawIdleWords(context, viewport, axis, width, colors) {
  context.fillStyle = colors.quiet;
  context.font = `italic 11px ${colors.font}`;
  let reached = 2;
  for (const [k, [from]] of viewport.folds.entries()) {
    const center = viewport.x(from) + viewport.foldWidth / 2;
    if (center < 0 || center > width) continue;
    for (const text of [axis.idle[k], axis.idle[k].replace(/^idle /, "")]) {
      const room = context.measureText(text).width;
      const x = Math.min(Math.max(center - room / 2, reached), width - room - 2);
      if (x < reached || Math.abs(x + room / 2 - center) > room / 2) continue;
      context.fillText(text, x, 14);
      reached = x + room + 8;
      break;
    }
  }
}

/** The middle of every fold, in pixels. */
function tears(viewport) {
  return viewport.folds.map(([from]) => viewport.x(from) + viewport.foldWidth / 2);
}

/** Two torn edges with nothing between: the axis leaves something out. `shift` keeps the teeth in place in a scroll. */
function drawTear(context, x, top, bottom, room, colors, shift) {
  const half = Math.min(TEAR.half, room / 4);
  const edge = (side, back) => {
    const steps = [];
    for (let y = top - (shift % (2 * TEAR.tooth)), n = 0; y <= bottom + TEAR.tooth; y += TEAR.tooth, n += 1) {
      steps.push([x + side * half + (n % 2 ? half / 1.6 : -half / 1.6), y]);
    }
    return back ? steps.reverse() : steps;
  };
  context.save();
  context.beginPath();
  context.rect(x - 3 * half, top, 6 * half, bottom - top);
  context.clip();
  const trace = (points) => points.forEach(([a, b], n) => (n ? context.lineTo(a, b) : context.moveTo(a, b)));
  context.beginPath();
  [...edge(-1, false), ...edge(1, true)].forEach(([a, b], n) => (n ? context.lineTo(a, b) : context.moveTo(a, b)));
  context.fillStyle = colors.paper;
  context.fill();
  context.beginPath();
  trace(edge(-1, false));
  trace(edge(1, false));
  context.strokeStyle = colors.quiet;
  context.globalAlpha = 0.7;
  context.lineWidth = 1;
  context.stroke();
  context.restore();
}
