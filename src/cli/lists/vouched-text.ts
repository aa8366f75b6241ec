import type { Vouched } from '../../verify/vouched.ts';
import type { Terminal } from '../run/terminal.ts';
import { gapText } from '../tail/notice-text.ts';

/** Says, to a person or if asked, for which stretch certificates vouch, and what may be missing. */
export function noticeVouched(
  { notice, io }: Pick<Terminal, 'notice' | 'io'>,
  { isWhole, from, to, gaps }: Vouched,
  isAsked = false,
): void {
  if (!isAsked && io.stderr.isTTY !== true) return;
  const stretch =
    from === null || to === null
      ? ''
      : ` from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`;
  notice(`${isWhole ? '' : 'no '}certificates vouch for all posts${stretch}`);
  for (const gap of gaps) notice(`GAP: ${gapText(gap)}: ${gap.why}`);
}
