import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { ensureFolder, LARGEST_CHECKPOINT, readBounded } from '../../base/files.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { readStoreUrl, type StoreAddress } from '../../store/address.ts';
import type { ConnectOptions } from '../../store/connection.ts';
import { ignoreUnusable } from '../../store/failures.ts';
import { type Keys, keysOf } from '../../store/keys.ts';
import { createLink, type StoreLink } from '../../store/link.ts';
import { createMemory, type StoreMemory } from '../../store/memory.ts';
import { serverNow } from '../../store/replies.ts';
import type { Io } from '../io.ts';
import type { RunSettings } from '../settings/settings.ts';
import { version } from '../version.ts';

/** The shared store of a run, to which trdr connects on first use. */
export interface RunStore {
  readonly link: StoreLink;
  readonly keys: Keys;
  readonly address: StoreAddress;
  readonly connect: ConnectOptions;
  readonly machine: string;
  readonly memory: StoreMemory;
}

type Scope = { readonly baseUrl: string; readonly key: string };
type Parts = {
  readonly io: Pick<Io, 'clock' | 'random'>;
  readonly settings: RunSettings;
  readonly trace?: ((line: string) => void) | undefined;
};

/** Creates the store for a base URL and key, without connecting. */
export async function openStore(scope: Scope, { io, settings, trace }: Parts): Promise<RunStore> {
  const address = readStoreUrl(settings.store ?? '');
  const connect = await storeConnectOptions(settings, trace);
  const keys = keysOf({ ...scope, prefix: settings.storePrefix, egress: settings.egress });
  return {
    link: createLink({ address, connect, keys, clock: io.clock, random: io.random }),
    keys,
    address,
    connect,
    machine: machineOf(settings),
    memory: createMemory(memoryFiles(settings.folders.state, keys.bind)),
  };
}

/** Connection options from the settings. */
const storeConnectOptions = async (
  settings: RunSettings,
  trace?: ((line: string) => void) | undefined,
): Promise<ConnectOptions> => ({
  password: await settings.storePassword.get(),
  ca: settings.storeCa === undefined ? undefined : readCa(settings.storeCa),
  plain: settings.storePlain,
  name: `trdr-${version}`,
  trace,
});

/** The name of this machine: the setting `machine`, or the host name with - for characters that are not allowed. */
const machineOf = ({ machine }: Pick<RunSettings, 'machine'>): string =>
  machine ??
  (hostname()
    .replace(/[^\w.-]/g, '-')
    .slice(0, 64) ||
    'unnamed');

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
  // Reject a file without a PEM certificate: Node would ignore the file, and report that the server's
  // certificate is not trusted.
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw refuse(`${path} contains no PEM certificate`);
  return text;
}

function memoryFiles(folder: string | undefined, bind: string) {
  if (folder === undefined) return undefined;
  const pathOf = (name: string) => join(folder, `store-${bind}${name === '' ? '' : `-${name}`}.json`);
  return {
    load: (name: string) => readBounded(pathOf(name), LARGEST_CHECKPOINT),
    save(name: string, text: string) {
      ensureFolder(folder);
      writeAtomic(pathOf(name), text, { sync: false });
    },
  };
}

/**
 * The time from which an age such as 2h counts in a feed of the store: that of the server, because the clock of this
 * machine may be hours off. If the store is not reachable, the follower waits for it, and this clock has to do.
 */
export async function storeNow({ link }: Pick<RunStore, 'link'>, clock: Pick<Clock, 'now'>): Promise<number> {
  return (await link.use(serverNow).catch(ignoreUnusable)) ?? clock.now();
}
