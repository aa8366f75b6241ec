import { Failure } from '../../base/failure.ts';
import { plainJson } from '../../base/json-object.ts';
import { unitsText } from '../../base/units.ts';
import { ServerFrame } from '../../contract/frames.ts';
import { cu } from '../../contract/prices.ts';
import type { Connect } from '../../tail/ports.ts';
import type { Context } from '../context.ts';
import { attempt, type Check, failedCheck, passed, skip } from './judge.ts';

const READY_MS = 15_000;

export async function socketCheck(context: Context): Promise<Check> {
  const { maxCu } = context.settings;
  if (maxCu !== undefined && context.spent + cu.socketMinute > maxCu) {
    return skip(
      'socket',
      `skipped: one minute costs ${unitsText(cu.socketMinute)}, more than the spending limit allows`,
    );
  }
  const { socketOf } = await import('../tail/socket.ts');
  const connect = socketOf(context, await context.client(), await context.target());
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const late = new Failure('network', `the WebSocket was not ready within ${READY_MS / 1000} seconds`, {
    code: 'NO_ANSWER',
    hint: 'check whether a proxy blocks WebSockets; "trdr thesis tail --via poll" works without them',
  });
  const timer = context.io.clock.sleep(READY_MS, signal).then(
    () => over.abort(late),
    () => {},
  );
  const outcome = await attempt(() => untilReady(connect, signal));
  over.abort();
  await timer;
  return outcome instanceof Failure
    ? failedCheck('socket', outcome)
    : passed('socket', 'the WebSocket connects and is ready');
}

async function untilReady(connect: Connect, signal: AbortSignal): Promise<void> {
  let onChange = () => {};
  const changed = () =>
    new Promise<void>((resolve) => {
      onChange = resolve;
    });
  let next = changed();
  signal.addEventListener('abort', () => onChange(), { once: true });
  const link = await connect(() => onChange(), signal);
  try {
    for (;;) {
      for (let frame = link.next(); frame; frame = link.next()) {
        const read = ServerFrame.safeParse(plainJson(Buffer.from(frame).toString('utf8')));
        if (read.success && read.data.type === 'ready') return;
      }
      if (link.end) {
        throw new Failure('network', `the WebSocket was closed: ${link.end.text}`, {
          code: 'SOCKET_CLOSED',
          hint: 'try again; if it keeps happening, "trdr thesis tail --via poll" works without a WebSocket',
        });
      }
      signal.throwIfAborted();
      await next;
      next = changed();
    }
  } finally {
    link.close();
  }
}
