import type { Callout } from '../../contract/records/launchpad.ts';
import { normalAddress } from './address.ts';
import type { CalloutFilter, ThesisFilter } from './types.ts';

/** The name of a filtered thesis feed; undefined for the whole feed. */
export function thesisKey({ userId, tokenAddress }: ThesisFilter): string | undefined {
  if (userId === undefined && tokenAddress === undefined) return undefined;
  return `${userId?.toLowerCase() ?? ''} ${tokenAddress === undefined ? '' : normalAddress(tokenAddress)}`;
}

/** The names of the filtered feeds to which a thesis of this author about this token belongs. */
export function thesisKeys(authorId?: string | null, token?: string | null): string[] {
  const userId = authorId || undefined;
  const tokenAddress = token || undefined;
  const keys = [thesisKey({ userId }), thesisKey({ tokenAddress }), thesisKey({ userId, tokenAddress })];
  return [...new Set(keys.filter((key) => key !== undefined))];
}

/** The name of a filtered callout feed; undefined for the whole feed. */
export function calloutKey({ coin, wallet }: CalloutFilter): string | undefined {
  if (coin !== undefined) return `coin ${normalAddress(coin)}`;
  return wallet === undefined ? undefined : `wallet ${normalAddress(wallet)}`;
}

/** The names of the filtered feeds to which a callout belongs. */
export const calloutKeys = ({ coinMint, wallet }: Pick<Callout, 'coinMint' | 'wallet'>): string[] =>
  [calloutKey({ coin: coinMint }), calloutKey({ wallet })].filter((key) => key !== undefined);
