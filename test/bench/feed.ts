import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { thesis } from '../e2e/records.ts';
import { me } from './measure.ts';

/** Posts from before the first connection. */
export const PAST = 40;
const EPOCH = 1_700_000_000_000;
const HOUR = 3_600_000;
/** The number of frames per write. */
const PIECE = 64;
const text =
  'I hold this since the launch, and I will hold it through the next one. Not advice. '.repeat(8);

/** The number of a post, in a line of its record. */
export const numberIn = (line: string) => Number(line.slice(8, 19));

/**
 * Serves the feed in a process of its own, and reports the port and the time of the first frame to its parent. With a
 * `rate` per second, posts are published at this rate, in pages too; without, `frames` are sent as fast as possible.
 */
export function serve(frames: number, rate: number): void {
  const isLive = rate > 0;
  const start = isLive ? Date.now() - (PAST * 1_000) / rate : EPOCH;
  const timeOf = (index: number) => Math.floor(start + (isLive ? (index * 1_000) / rate : index));
  const record = (index: number) => ({
    ...thesis(index),
    id: `t${String(index).padStart(11, '0')}`,
    thesis: text,
    platformCreatedAt: timeOf(index),
  });
  const framesOf = createFrames(record(0), timeOf);
  let posted = PAST;
  let asked = performance.now();
  const listeners = new Set<Duplex>();

  const page = (before: string | null, limit: number) => {
    const newest = (before === null ? posted : Number(before.slice(1))) - 1;
    const ids = Array.from({ length: Math.min(limit, newest + 1) }, (_, i) => newest - i);
    const last = ids.at(-1) ?? 0;
    return {
      ...{ count: ids.length, hasMore: last > 0, nextBefore: last > 0 ? record(last).id : null },
      ...{ updatedAt: null, items: ids.map(record) },
    };
  };
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    asked = performance.now();
    const url = new URL(request.url ?? '/', 'http://feed');
    const limit = Number(url.searchParams.get('limit') ?? 20);
    const body = url.pathname === '/v2/thesis' ? page(url.searchParams.get('before'), limit) : me;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const send = async (socket: Duplex) => {
    // Wait until the client has requested no page for 200 ms, because some clients read pages after subscribing.
    while (performance.now() - asked < 200) await new Promise((settle) => setTimeout(settle, 20));
    process.send?.({ first: Date.now() });
    const closed = once(socket, 'close');
    for (let at = PAST; at < PAST + frames && !socket.destroyed; at += PIECE) {
      if (socket.write(framesOf(at, Math.min(at + PIECE, PAST + frames)))) continue;
      await Promise.race([once(socket, 'drain'), closed]);
    }
  };
  const publish = () => {
    const until = Math.floor(((Date.now() - start) * rate) / 1_000);
    for (const socket of listeners) socket.write(framesOf(posted, until));
    posted = until;
  };
  if (isLive) setInterval(publish, Math.max(20, 1_000 / rate));
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer(answer);
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (client) => {
      const ping = setInterval(() => isLive && client.ping(), 30_000);
      const close = setTimeout(() => client.close(1001), HOUR);
      client.on('error', () => {});
      client.on('close', () => {
        listeners.delete(socket);
        clearInterval(ping);
        clearTimeout(close);
      });
      client.on('message', () => {
        client.send(JSON.stringify({ type: 'subscription', subscription: { type: 'all' } }));
        asked = performance.now();
        if (isLive) listeners.add(socket);
        else send(socket);
      });
    }),
  );
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object' && address) process.send?.({ port: address.port });
  });
  process.once('disconnect', () => process.exit());
}

/** Creates the bytes of frames from one record, whose id and time are replaced. */
function createFrames(record: object, timeOf: (index: number) => number) {
  const json = Buffer.from(JSON.stringify({ type: 'thesis', data: record }));
  const frame = Buffer.concat([
    Buffer.from([0x81, 126, json.length >> 8, json.length & 255]),
    json,
  ]);
  const id = frame.indexOf('"id":"t') + 7;
  const time = frame.indexOf('"platformCreatedAt":') + 20;
  return (from: number, to: number) => {
    const bytes = Buffer.allocUnsafe(frame.length * (to - from));
    for (let i = from; i < to; i++) {
      const at = frame.length * (i - from);
      frame.copy(bytes, at);
      bytes.write(String(i).padStart(11, '0'), at + id, 'latin1');
      bytes.write(String(timeOf(i)), at + time, 'latin1');
    }
    return bytes;
  };
}
