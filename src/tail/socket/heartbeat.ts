import type { Clock } from '../../base/clock.ts';
import type { Link } from '../ports.ts';
import type { Timing } from '../timing.ts';

export function createHeartbeat(clock: Clock, timing: Timing) {
  let signs = 0;
  let heardAt = 0;
  let mono = 0;
  let wall = 0;
  return {
    get due() {
      return mono + timing.beatMs;
    },
    start(link: Link) {
      signs = link.signs;
      mono = clock.mono();
      wall = clock.now();
      heardAt = mono;
    },
    /** Checks the connection if a check is due. Returns why the connection no longer works; otherwise undefined. */
    dead(link: Link): { why: 'suspended' | 'silent'; text: string } | undefined {
      const now = clock.mono();
      if (now < mono + timing.beatMs) return undefined;
      const passed = now - mono;
      // Compare both clocks with the expected time: on some systems the monotonic clock stops while the
      // machine is suspended, on others it continues.
      const jumped = Math.max(passed - timing.beatMs, clock.now() - wall - passed);
      mono = now;
      wall = clock.now();
      if (link.signs !== signs) {
        signs = link.signs;
        heardAt = now;
      }
      if (jumped > timing.jumpMs)
        return {
          why: 'suspended',
          text: 'the process or the machine was suspended, or the clock was changed',
        };
      // If nothing was received for a while, send a ping, which the service must answer.
      if (now - heardAt >= timing.pingMs) link.ping?.();
      if (now - heardAt < timing.silentMs) return undefined;
      return { why: 'silent', text: `nothing received for ${Math.round((now - heardAt) / 1_000)} s` };
    },
  };
}
