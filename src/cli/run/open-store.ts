import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { readStoreUrl, type StoreAddress } from '../../store/address.ts';
import { type ConnectOptions, serverNow } from '../../store/connection.ts';
import { ignoreUnusable } from '../../store/failures.ts';
import { type Keys, keysOf } from '../../store/keys.ts';
import { StoreLink, type StoreMember } from '../../store/link.ts';
import { createMemory } from '../../store/memory.ts';
import type { Io } from '../io.ts';
import type { RunSettings } from '../settings/settings.ts';
import { version } from '../version.ts';

export interface RunStore extends StoreMember {
  readonly keys: Keys;
  readonly address: StoreAddress;
  readonly connect: ConnectOptions;
}

/** Does not connect. */
export async function openStore(
  scope: { readonly baseUrl: string; readonly key: string },
  { clock, random }: Pick<Io, 'clock' | 'random'>,
  settings: RunSettings,
  trace?: ConnectOptions['trace'],
): Promise<RunStore> {
  const address = readStoreUrl(settings.store ?? '');
  const connect: ConnectOptions = {
    password: await settings.storePassword.get(),
    ca: settings.storeCa === undefined ? undefined : readCa(settings.storeCa),
    plain: settings.storePlain,
    name: `trdr-${version}`,
    trace,
  };
  const keys = keysOf({ ...scope, prefix: settings.storePrefix, egress: settings.egress });
  return {
    link: new StoreLink(address, connect, keys, clock, random),
    keys,
    address,
    connect,
    machine: settings.machine ?? hostMachine(),
    memory: createMemory(settings.folders.state, keys.bind),
  };
}

/** The host name, with - for characters that names of machines must not have. */
const hostMachine = (): string =>
  hostname()
    .replace(/[^\w.-]/g, '-')
    .slice(0, 64) || 'unnamed';

function readCa(path: string): string {
  const refuse = (what: string, cause?: unknown) =>
    new Failure('local', what, {
      code: 'STORE_CA',
      hint: 'check the setting storeCa, or TRDR_STORE_CA',
      cause,
    });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw refuse(`cannot read ${path}, the CA certificate of the store`, error);
  }
  // Node would ignore a file without a certificate, and report that the server's certificate is not
  // trusted.
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw refuse(`${path} contains no PEM certificate`);
  return text;
}

/** `service` opens the store, and is a `Service`: a type import would be circular. */
export async function needStore(
  service: { store(): Promise<RunStore | undefined> },
  isSandbox: boolean,
): Promise<RunStore> {
  const opened = await service.store();
  if (opened !== undefined) return opened;
  const [message, hint] = isSandbox
    ? ['the embedded service has no store', 'remove --sandbox']
    : ['no store configured', 'run "trdr store login URL", or set TRDR_STORE'];
  throw new Failure('usage', message, { code: 'NO_STORE', hint });
}

/**
 * An age such as 2h counts from the clock of the server, or of this machine if the store is not
 * reachable.
 */
export async function storeNow(
  { link }: Pick<RunStore, 'link'>,
  clock: Pick<Clock, 'now'>,
): Promise<number> {
  return (await link.use(serverNow).catch(ignoreUnusable)) ?? clock.now();
}
