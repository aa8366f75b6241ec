import { usageError } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import { createFilter, readPattern } from '../../core/pages/filter.ts';
import type { Certificate, Stretch, Unread } from '../../tail/certificate.ts';
import type { PageSource } from '../../tail/ports.ts';
import { tailRow } from '../../tail/post-row.ts';

type CertifiedFeed = ReturnType<typeof readFeedName>;

/** Reads the name of a feed, which tails and lists write as `thesis USER TOKENS of URL`. */
export function readFeedName(feed: string) {
  const [, name = '', baseUrl = ''] = /^(.*?) of (.*)$/s.exec(feed) ?? [];
  const [kind, first = '', rest = ''] = name.split(' ');
  if (kind !== 'thesis' && kind !== 'launchpad')
    throw usageError(`unknown feed in a certificate: ${feed}`, 'use the version of trdr that wrote it');
  return { kind, first: first || undefined, tokens: rest === '' ? [] : rest.split(','), baseUrl };
}

/** Whether posts pass the filters of a certificate. */
export function filterOf({ filters }: Certificate, { kind, tokens }: CertifiedFeed) {
  const { symbol, minHoldings, devOnly, grep, exclude } = filters;
  const pattern = (text: unknown) => (typeof text === 'string' ? readPattern(text) : undefined);
  return createFilter({
    tokens: kind === 'thesis' ? tokens : [],
    symbol: Array.isArray(symbol) ? symbol.map(String) : [],
    symbolField: kind === 'thesis' ? 'tokenSymbol' : 'coinSymbol',
    minHoldings: typeof minHoldings === 'number' ? minHoldings : undefined,
    devOnly: devOnly === true,
    grep: pattern(grep),
    exclude: pattern(exclude),
  });
}

/** The cursors of random pages: of lines whose post time is in a stretch. */
export function cursorsIn(
  lines: readonly string[],
  stretches: readonly Stretch[],
  timeField: string,
): string[] {
  return lines.flatMap((line) => {
    const record = parseJson(line);
    const row = isRecord(record) ? tailRow(record, timeField) : null;
    const { at = null } = row ?? {};
    return row && at !== null && isIn(at, stretches) ? [row.id] : [];
  });
}

interface Sample {
  readonly cursors: readonly string[];
  readonly stretches: readonly Stretch[];
  readonly wants: ReturnType<typeof filterOf>;
}

/** Reads pages again, and returns the posts that should be in the files but are not. */
export async function missingIn(
  source: PageSource,
  { cursors, stretches, wants }: Sample,
  isThere: (id: string) => boolean,
  signal: AbortSignal,
): Promise<{ readonly missing: Unread[]; readonly compared: number }> {
  const missing = new Map<string, Unread>();
  let compared = 0;
  for (const before of cursors) {
    const { rows } = await source.page({ before, limit: source.sizes.step }, signal);
    for (const row of rows) {
      const { id, at } = row;
      if (at === null || !isIn(at, stretches) || !wants(row)) continue;
      compared++;
      if (!isThere(id))
        missing.set(id, { from: at, to: at, why: `the service has the post ${id}, and no file` });
    }
  }
  return { missing: [...missing.values()], compared };
}

const isIn = (at: number, stretches: readonly Stretch[]): boolean =>
  stretches.some(({ from, to }) => at >= from && at <= to);
