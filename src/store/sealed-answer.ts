import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../base/json.ts';
import type { SharedAnswer } from '../contract/answer-ports.ts';

/** The signature of an answer in the store: only machines with the API key can write answers. */
export const seal = (
  key: string,
  endpoint: string,
  subject: string,
  status: string,
  time: string,
  record: string,
): string =>
  createHmac('sha256', key).update([endpoint, subject, status, time, record].join('\n')).digest('hex');

/** The answer of a store entry; undefined if its signature or content is invalid. */
export function openSeal(
  key: string,
  endpoint: string,
  subject: string,
  entry: readonly unknown[],
): SharedAnswer | undefined {
  const [status = '', time = '', record = '', given = ''] = entry.map(String);
  const wanted = Buffer.from(seal(key, endpoint, subject, status, time, record));
  const found = Buffer.from(given);
  if (found.length !== wanted.length || !timingSafeEqual(found, wanted)) return undefined;
  if (status === '404') return { time: Number(time), status: 404, record: null };
  const value = parseJson(record);
  if ((status !== '200' && status !== '202') || value === undefined) return undefined;
  return { time: Number(time), status: status === '200' ? 200 : 202, record: value };
}
