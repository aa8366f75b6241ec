import type { Vouched } from '../../verify/vouched.ts';
import type { Terminal } from '../run/terminal.ts';
import { gapText } from '../tail/notice-text.ts';

/** Says for which stretch certificates vouch, and what may be missing there. */
export function noticeVouched(
  { notice }: Pick<Terminal, 'notice'>,
  { isWhole, from, to, gaps }: Vouched,
): void {
  const stretch =
    from === null || to === null
      ? ''
      : ` from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`;
  notice(`${isWhole ? '' : 'no '}certificates vouch for all posts${stretch}`);
  for (const gap of gaps) notice(`GAP: ${gapText(gap)}: ${gap.why}`);
}
