import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { quietly } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { ensureFolder, readBounded } from '../../base/files.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { sha256 } from '../../base/sha256.ts';
import { readStoreUrl, type StoreAddress } from '../../store/address.ts';
import { handOverSpending, noteBudgets } from '../../store/budgets.ts';
import { type ConnectOptions, serverNow } from '../../store/connection.ts';
import { ignoreUnusable } from '../../store/failures.ts';
import { type Keys, keysOf, keysOfBind } from '../../store/keys.ts';
import { StoreLink, type StoreMember } from '../../store/link.ts';
import { StoreMemory } from '../../store/memory.ts';
import type { Io } from '../io.ts';
import type { RunSettings } from '../settings/settings.ts';
import { version } from '../version.ts';

export interface RunStore extends StoreMember {
  readonly keys: Keys;
  readonly address: StoreAddress;
  readonly connect: ConnectOptions;
  /** Continues with another API key, which gets the budgets and the sums of the present one. */
  rebind(key: string): Promise<void>;
}

/** Connects only if the command that prints the key prints another one than last time. */
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
  const { storePrefix: prefix, egress } = settings;
  const { baseUrl } = scope;
  const keysFor = (key: string) => keysOf({ baseUrl, key, prefix, egress });
  const keys = keysFor(scope.key);
  const last = lastBindOf(settings, baseUrl);
  const former = keysOfBind({ baseUrl, bind: last.read() ?? keys.bind, prefix, egress });
  const link = new StoreLink(address, connect, former, clock, random);
  const memory = new StoreMemory(settings.folders.state, former.bind);
  const machine = settings.machine ?? hostMachine();
  const rebind = async (to: Keys) => {
    const from = link.keys;
    if (from.bind !== to.bind) {
      await link.rebind(to, (store) => handOverSpending(store, from, to, machine));
      memory.rename(to.bind);
    }
    last.save(to.bind);
  };
  await rebind(keys);
  link.onConnect((store) => noteBudgets(store, { keys: link.keys, memory, machine }));
  return {
    link,
    get keys() {
      return link.keys;
    },
    address,
    connect,
    machine,
    memory,
    rebind: (key) => rebind(keysFor(key)),
  };
}

/**
 * The name in the store of the key that a command printed last: a key that is replaced between two
 * runs leaves its budgets to the next one too.
 */
function lastBindOf(
  { keyCommand, key, folders }: RunSettings,
  baseUrl: string,
): { read(): string | undefined; save(bind: string): void } {
  const { state } = folders;
  if (keyCommand === undefined || !key.print || state === undefined)
    return { read: () => undefined, save() {} };
  const name = sha256(`trdr last key\n${baseUrl}\n${keyCommand}`).slice(0, 24);
  const path = join(state, `store-key-${name}`);
  const read = () => /^[0-9a-f]{24}$/.exec(quietly(() => readBounded(path, 100)) ?? '')?.[0];
  return {
    read,
    save(bind) {
      if (read() === bind) return;
      quietly(() => {
        ensureFolder(state);
        writeAtomic(path, bind, { sync: false });
      });
    },
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

export function noStore(isSandbox: boolean): Failure {
  const [message, hint] = isSandbox
    ? ['the embedded service has no store', 'remove --sandbox']
    : ['no store configured', 'run "trdr store login URL", or set TRDR_STORE'];
  return new Failure('usage', message, { code: 'NO_STORE', hint });
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
