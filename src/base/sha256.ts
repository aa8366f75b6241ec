const constants = new Uint32Array(64);
const start = new Uint32Array(8);

/** The constants of SHA-256 are the first bits of the fractional parts of roots. */
const fraction = (root: number) => ((root - Math.floor(root)) * 2 ** 32) >>> 0;
for (let candidate = 2, found = 0; found < 64; candidate++) {
  let prime = true;
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) {
    if (candidate % divisor === 0) prime = false;
  }
  if (!prime) continue;
  if (found < 8) start[found] = fraction(Math.sqrt(candidate));
  constants[found++] = fraction(Math.cbrt(candidate));
}

const turn = (word: number, by: number) => (word >>> by) | (word << (32 - by));

/**
 * Hex. Every run needs it for folder names; loading node:crypto would add 3 ms to a start of 22.
 */
export function sha256(text: string): string {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.alloc(Math.ceil((length + 9) / 64) * 64);
  bytes.write(text);
  bytes[length] = 0x80;
  bytes.writeUInt32BE(Math.floor(length / 2 ** 29), bytes.length - 8);
  bytes.writeUInt32BE((length << 3) >>> 0, bytes.length - 4);
  const state = Uint32Array.from(start);
  const words = new Uint32Array(64);
  const word = (at: number) => words[at] ?? 0;
  for (let block = 0; block < bytes.length; block += 64) {
    for (let at = 0; at < 16; at++) words[at] = bytes.readUInt32BE(block + at * 4);
    for (let at = 16; at < 64; at++) {
      const [early, late] = [word(at - 15), word(at - 2)];
      words[at] =
        word(at - 16) +
        (turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)) +
        word(at - 7) +
        (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10));
    }
    mix(state, words);
  }
  return Array.from(state, (part) => part.toString(16).padStart(8, '0')).join('');
}

function mix(state: Uint32Array, words: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let at = 0; at < 64; at++) {
    const one =
      (h +
        (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
        ((e & f) ^ (~e & g)) +
        (constants[at] ?? 0) +
        (words[at] ?? 0)) |
      0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    // Separate assignments: a destructuring assignment would take longer than the arithmetic.
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  const sums = [a, b, c, d, e, f, g, h];
  for (let at = 0; at < 8; at++) state[at] = (state[at] ?? 0) + (sums[at] ?? 0);
}
