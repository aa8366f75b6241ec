#!/usr/bin/env node
// Implements the commands of the `nats` program that the recipes use, for machines without it. Needs a real server.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';

const type = 'string';
const isOn = { type: 'boolean' };
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type },
    subjects: { type },
    header: { type },
    ...{
      defaults: isOn,
      jetstream: isOn,
      'force-stdin': isOn,
      'no-templates': isOn,
      quiet: isOn,
      json: isOn,
    },
  },
});

const { hostname, port } = new URL(flags.server);
const socket = connect(Number(port), hostname);
const end = (text) => {
  socket.destroy();
  throw new Error(text);
};

/** Publishes with a reply subject, and returns the reply as JSON. */
async function request(subject, body, header = '') {
  const inbox = `_INBOX.${randomUUID()}`;
  const head = header === '' ? '' : `NATS/1.0\r\n${header}\r\n\r\n`;
  const sizes = head === '' ? body.length : `${head.length} ${head.length + body.length}`;
  socket.write('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n');
  socket.write(`SUB ${inbox} 1\r\n${head === '' ? 'PUB' : 'HPUB'} ${subject} ${inbox} ${sizes}\r\n${head}`);
  socket.write(Buffer.concat([body, Buffer.from('\r\n')]));
  let heard = '';
  for await (const part of socket) {
    heard += part;
    if (/^HMSG .*\r\nNATS\/1\.0 503/m.test(heard)) end('no responders');
    const [, size, rest] = /^MSG \S+ 1 +(\d+)\r\n([\s\S]*)$/m.exec(heard) ?? [];
    if (size !== undefined && Buffer.byteLength(rest) >= Number(size)) break;
    if (/^-ERR/m.test(heard)) end(heard);
  }
  const answer = JSON.parse(/^MSG .*\r\n([\s\S]*)\r\n$/m.exec(heard)[1]);
  return answer.error ? end(answer.error.description) : answer;
}

async function readAll(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

await once(socket, 'connect');
const [first, second, name] = positionals;
if (first === 'pub' && flags.jetstream && flags['force-stdin'] && flags['no-templates']) {
  await request(second, await readAll(process.stdin), flags.header.replace(':', ': '));
} else if (first === 'stream' && second === 'add' && flags.defaults) {
  const settings = { name, subjects: [flags.subjects], storage: 'file', num_replicas: 1 };
  await request(`$JS.API.STREAM.CREATE.${name}`, Buffer.from(JSON.stringify(settings)));
} else if (first === 'stream' && second === 'info' && flags.json) {
  process.stdout.write(JSON.stringify(await request(`$JS.API.STREAM.INFO.${name}`, Buffer.alloc(0))));
} else {
  end('not a call of a recipe');
}
socket.destroy();
