// Shared by the widgets: where the ticks of an axis stand, and what is written at them.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
];

const LEAST_STRETCH = 24;
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/**
 * The places of ticks about `apart` pixels from each other and what is written at them: round values, none inside a
 * fold. A stretch between folds too short for such a tick gets one finer tick, so that one can tell where one is.
 */
function ticks(viewport, axis, zero, apart = 110) {
  const rough = apart / viewport.scale;
  const offset = axis === "clock" ? zero : 0;
  const step = axis === "order" ? orderStep(rough) : (TIME_STEPS.find((n) => n >= rough) ?? dayStep(rough));
  const marks = [];
  let day = null;
  const mark = (value, fine) => {
    let text = tickText(axis, value, fine);
    const today = Math.floor(value / DAY);
    if (axis === "clock" && today !== day && fine < DAY && value % DAY) text = `${dayText(value)} ${text}`;
    day = today;
    marks.push({ value: value - offset, text });
  };
  for (const [from, to] of viewport.stretches) {
    const first = (fine) => Math.ceil((from + offset) / fine) * fine;
    if (first(step) <= to + offset) {
      for (let value = first(step); value <= to + offset; value += step) mark(value, step);
    } else if (axis !== "order" && viewport.folds.length && viewport.x(to) - viewport.x(from) >= LEAST_STRETCH) {
      const fine = TIME_STEPS.findLast((n) => n < step && first(n) <= to + offset);
      if (fine) mark(first(fine), fine);
    }
  }
  return marks;
}

function orderStep(rough) {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  return Math.max(
    1,
    [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough),
  );
}

function dayStep(rough) {
  return Math.ceil(rough / DAY) * DAY;
}

function tickText(axis, value, step) {
  if (axis === "order") return value.toLocaleString("en-US");
  if (axis === "clock") return clockText(value, step);
  const sign = value < 0 ? "−" : "";
  const ms = Math.abs(value);
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  const [days, hours] = [Math.floor(ms / DAY), Math.floor((ms % DAY) / HOUR)];
  const clock = `${days || hours ? `${hours}:${two((ms % HOUR) / MINUTE)}` : Math.floor(ms / MINUTE)}:${two((ms % MINUTE) / SECOND)}`;
  const fraction = step < SECOND ? `.${String(Math.round(ms % SECOND)).padStart(3, "0")}` : "";
  return `${sign}${days ? `${days} d ` : ""}${clock}${fraction}`;
}

/** A time of day in UTC, as fine as `step` asks for; at midnight, and for steps of days, the date. */
function clockText(ms, step) {
  const iso = new Date(ms).toISOString();
  if (step >= DAY || ms % DAY === 0) return iso.slice(0, 10);
  if (step >= MINUTE) return iso.slice(11, 16);
  return iso.slice(11, step >= SECOND ? 19 : 23);
}

function dayText(ms) {
  const day = new Date(ms);
  return `${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]}`;
}
