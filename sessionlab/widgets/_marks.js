// Shared by the widgets: how a kind of entry looks, in the timeline and in its legend. Colours come with the payload.

const OPEN_ENDED = new Set(["unanswered", "staged", "asked"]);
const ALARMING = new Set(["failed", "refused", "interrupted"]);

/** A repeating pattern drawn by `draw(context, side)`; kept, for patterns are made anew at every frame otherwise. */
const patternCache = new Map();
function pattern(context, key, side, draw) {
  if (!patternCache.has(key)) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = side * 2;
    const inner = tile.getContext("2d");
    inner.scale(2, 2);
    draw(inner, side);
    patternCache.set(key, tile);
  }
  const made = context.createPattern(patternCache.get(key), "repeat");
  made.setTransform(new DOMMatrix().scale(0.5));
  return made;
}

function diagonals(context, color, back, side = 6, thick = 2) {
  return pattern(context, `diagonals ${color} ${back} ${side} ${thick}`, side, (inner) => {
    if (back) {
      inner.fillStyle = back;
      inner.fillRect(0, 0, side, side);
    }
    inner.strokeStyle = color;
    inner.lineWidth = thick;
    inner.beginPath();
    for (const shift of [-side, 0, side]) {
      inner.moveTo(shift - 1, side + 1);
      inner.lineTo(shift + side + 1, -1);
    }
    inner.stroke();
  });
}

function fillOf(context, mark, colors) {
  const color = mark.color === "ink" ? colors.ink : mark.color;
  if (mark.shape === "stripes") {
    return pattern(context, `stripes ${color}`, 4, (inner, side) => {
      inner.fillStyle = color;
      inner.fillRect(0, 0, side, side);
      inner.fillStyle = "rgba(0, 0, 0, 0.22)";
      inner.fillRect(0, 0, 1, side);
    });
  }
  if (mark.shape === "dots") {
    return pattern(context, `dots ${color}`, 5, (inner, side) => {
      inner.fillStyle = color;
      inner.fillRect(0, 0, side, side);
      inner.fillStyle = "rgba(0, 0, 0, 0.4)";
      inner.beginPath();
      inner.arc(side / 2, side / 2, 0.9, 0, 7);
      inner.fill();
    });
  }
  return color;
}

/** Draws one mark into the box x, y, width, height. */
function drawMark(context, mark, x, y, width, height, colors, { forced = false, status = null } = {}) {
  const color = mark.color === "ink" ? colors.ink : mark.color;
  const middle = y + height / 2;
  const wide = Math.max(width, 3);
  context.lineWidth = 1;
  if (mark.shape === "bracket") {
    context.fillStyle = colors.quiet;
    context.fillRect(x, y, wide, 1.5);
    context.fillRect(x, y, 1.5, 4);
    context.fillRect(x + wide - 1.5, y, 1.5, 4);
    return;
  }
  if (mark.shape === "dot") {
    context.fillStyle = color;
    context.strokeStyle = colors.paper;
    context.beginPath();
    context.arc(x + Math.min(wide, 7) / 2, middle, 3.5, 0, 7);
    context.fill();
    context.stroke();
    return;
  }
  if (mark.shape === "cross" || mark.shape === "stop") {
    context.fillStyle = color;
    if (wide > 8) {
      context.globalAlpha *= 0.3;
      context.fillRect(x, y + 2, wide, height - 4);
      context.globalAlpha /= 0.3;
    }
    const r = height / 2;
    context.beginPath();
    if (mark.shape === "stop") {
      context.moveTo(x - 1, middle);
      context.lineTo(x + r, middle - r - 1);
      context.lineTo(x + 2 * r + 1, middle);
      context.lineTo(x + r, middle + r + 1);
      context.closePath();
      context.fill();
      context.strokeStyle = colors.ink;
      context.stroke();
    } else {
      context.strokeStyle = color;
      context.lineWidth = 2.4;
      context.lineCap = "round";
      context.moveTo(x, y + 1.5);
      context.lineTo(x + height - 3, y + height - 1.5);
      context.moveTo(x + height - 3, y + 1.5);
      context.lineTo(x, y + height - 1.5);
      context.stroke();
      context.lineCap = "butt";
    }
    return;
  }
  if (mark.shape === "ring") {
    // a circle struck through: it was called off
    const r = height / 2;
    context.fillStyle = colors.paper;
    context.strokeStyle = color;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x + r, middle, r, 0, 7);
    context.fill();
    context.moveTo(x + r - r * 0.7, middle + r * 0.7);
    context.lineTo(x + r + r * 0.7, middle - r * 0.7);
    context.stroke();
    return;
  }
  if (mark.shape === "pinch") {
    // an hourglass on its side: much goes in, little comes out
    const w = Math.max(wide, 9);
    context.fillStyle = color;
    context.strokeStyle = colors.ink;
    context.beginPath();
    context.moveTo(x, y - 1);
    context.lineTo(x + w, middle - 1.5);
    context.lineTo(x + w, middle + 1.5);
    context.lineTo(x, y + height + 1);
    context.closePath();
    context.fill();
    context.stroke();
    return;
  }
  if (mark.shape === "fold") {
    const w = Math.max(wide, 9);
    context.fillStyle = colors.paper;
    context.strokeStyle = colors.ink;
    context.beginPath();
    context.moveTo(x + 0.5, y + 0.5);
    context.lineTo(x + w - 4, y + 0.5);
    context.lineTo(x + w - 0.5, y + 4);
    context.lineTo(x + w - 0.5, y + height - 0.5);
    context.lineTo(x + 0.5, y + height - 0.5);
    context.closePath();
    context.moveTo(x + 2, middle + 1);
    context.lineTo(x + w - 3, middle + 1);
    context.fill();
    context.stroke();
    return;
  }
  const open = OPEN_ENDED.has(status) || mark.shape === "outline";
  context.fillStyle = fillOf(context, mark, colors);
  context.beginPath();
  if (wide > 5) context.roundRect(x, y, wide, height, 2);
  else context.rect(x, y, wide, height);
  if (open) {
    context.globalAlpha *= mark.shape === "outline" ? 0.14 : 0.25;
    context.fill();
    context.globalAlpha /= mark.shape === "outline" ? 0.14 : 0.25;
    context.strokeStyle = color;
    context.setLineDash(mark.shape === "outline" && !OPEN_ENDED.has(status) ? [] : [3, 2]);
    context.stroke();
    context.setLineDash([]);
  } else {
    context.fill();
  }
  if (forced) {
    context.fillStyle = diagonals(context, "rgba(255, 255, 255, 0.62)", null, 6, 2);
    context.fill();
    context.strokeStyle = colors.ink;
    context.lineWidth = 1.2;
    context.stroke();
  }
  if (ALARMING.has(status)) {
    context.fillStyle = colors.alarm;
    context.fillRect(x, y + height - 2.5, wide, 2.5);
    if (status === "interrupted") context.fillRect(x + wide - 2, y - 2, 2, height + 2);
  }
}

/** The picture of a legend key. */
function swatch(draw) {
  const canvas = h("canvas", { class: "sl-swatch", "aria-hidden": "true" });
  canvas.redraw = () => draw(surface(canvas, 20, 14));
  return canvas;
}
