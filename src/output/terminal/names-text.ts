import { group } from '../../base/units.ts';
import { safeLine } from './safe-text.ts';

/** `mira theo and 1,203 more`. */
export function namesText(names: readonly string[], most = 20): string {
  const rest = names.length - most;
  return `${safeLine(names.slice(0, most).join(' '))}${rest > 0 ? ` and ${group(rest)} more` : ''}`;
}
