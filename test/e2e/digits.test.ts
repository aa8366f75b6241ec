import { describe, expect, test } from 'vitest';
import { deskOf, withoutReading } from './harness.ts';
import { type Call, withService } from './service.ts';

/** Numbers that JavaScript would write differently, in an unknown field. */
const extra = '"x":{"big":12345678901234567890,"huge":1e400,"zero":-0,"tail":[1.10,{"e":5E-7}]}';
const proto = '"__proto__":{"kept":1.0}';
const user = `"id":"u1","handle":"mira","name":null,"bio":"\\ud83d half","banner":null,"profilePicture":null,"twitter":null,"solanaAddress":null,"evmAddress":null,${proto},${extra}`;
const windows = `"24h":{"netUsd":1200.50,"returnPct":3.10,"volumeUsd":1e3,"trades":7,"rank":1},"7d":null,"30d":null,"all":null`;
const pnl = (handle: string) =>
  `"handle":"${handle}","wallet":null,"evmWallet":null,"updatedAt":1700000000000,"windows":{${windows}},${proto},${extra}`;
const thesis = `"id":"t1","authorHandle":"mira","thesis":"why","platformCreatedAt":1700000000000,"pnl":-0.50,${proto},${extra}`;

async function answer({ path, request }: Call) {
  const body = await bodyOf(path, request);
  return { body: Buffer.from(body) };
}

async function bodyOf(path: string, request: AsyncIterable<Buffer>): Promise<string> {
  if (path.startsWith('/v2/thesis'))
    return `{"count":1,"hasMore":false,"nextBefore":null,"updatedAt":null,"items":[{${thesis}}]}`;
  if (path.endsWith('/handles/pnl')) {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { handles } = JSON.parse(Buffer.concat(parts).toString()) as { handles: string[] };
    const entries = handles.map((handle) => `{${pnl(handle)}}`);
    return `{"count":${handles.length},"missing":[],"entries":[${entries}]}`;
  }
  return path.endsWith('/pnl') ? `{${pnl('mira')}}` : `{${user}}`;
}

async function ran(argv: readonly string[]) {
  const { run } = deskOf(await withService(answer));
  return (...more: string[]) => run([...argv, ...more]);
}

const shown = user.replace('\\ud83d', '\ufffd');

describe('numbers as the service wrote them', () => {
  test('are in every machine format of whois, from the service and from the cache', async () => {
    const run = await ran(['whois', 'mira']);
    const line = `{"subject":"mira","found":true,${shown}}\n`;
    for (const format of ['ndjson', 'ndjson', 'json'])
      expect(withoutReading((await run('-o', format)).stdout)).toBe(line);
    const csv = (await run('-o', 'csv')).stdout.split('\n');
    expect(csv[0]).toMatch(/,__proto__\.kept,x\.big,x\.huge,x\.zero,x\.tail$/);
    expect(csv[1]).toMatch(/,1\.0,12345678901234567890,1e400,-0,"\[1\.10,\{""e"":5E-7\}\]"$/);
  });

  test('are in selected fields, nested as in the record', async () => {
    const run = await ran(['pnl', 'mira', '--max-cu', '60000']);
    const { stdout } = await run('--fields', 'windows.24h.netUsd,handle,windows.24h.returnPct');
    expect(stdout).toBe(
      '{"windows":{"24h":{"netUsd":1200.50,"returnPct":3.10}},"handle":"mira"}\n',
    );
  });

  test('are in posts of pages', async () => {
    const run = await ran(['thesis', 'list', '--limit', '1']);
    expect((await run()).stdout).toBe(`{${thesis}}\n`);
  });
});

test('half of a surrogate pair becomes U+FFFD, except in trdr api', async () => {
  const run = await ran([]);
  const { stdout } = await run('whois', 'mira', '--fields', 'bio');
  expect(stdout).toBe('{"bio":"\ufffd half"}\n');
  expect((await run('api', '/v2/user/handle/mira')).stdout).toBe(`{${user}}`);
});
