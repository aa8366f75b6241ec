// Moves the clock of this process, and of those that it starts, by CLOCK_SHIFT milliseconds: so tests run at the same time of the
// same day whenever they run.
const shift = Number(process.env.CLOCK_SHIFT);
process.env.NODE_OPTIONS = `--require=${__filename}`;
const realNow = Date.now;
Date.now = () => realNow() + shift;
globalThis.Date = new Proxy(Date, {
  construct: (target, parts, self) =>
    Reflect.construct(target, parts.length === 0 ? [target.now()] : parts, self),
});
