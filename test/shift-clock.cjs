// Moves the clock of this process, and of those that it starts, by CLOCK_SHIFT milliseconds: so tests run at the same time of the
// same day whenever they run.
const shift = Number(process.env.CLOCK_SHIFT);
process.env.NODE_OPTIONS = `--require=${__filename}`;
const realNow = Date.now;
let moved = shift;
Date.now = () => realNow() + moved;
globalThis.Date = new Proxy(Date, {
  construct: (target, parts, self) =>
    Reflect.construct(target, parts.length === 0 ? [target.now()] : parts, self),
});

/** Sets the clock back to that of the machine, or forward again. */
exports.shiftClock = (isShifted) => {
  moved = isShifted ? shift : 0;
  process.env.CLOCK_SHIFT = `${moved}`;
};
