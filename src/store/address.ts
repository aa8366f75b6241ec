import { Failure } from '../base/failure.ts';
import { decodePercent, isLoopback } from '../base/url-values.ts';

export interface StoreAddress {
  /** The address without the password, for messages. */
  readonly shown: string;
  readonly host: string;
  readonly port: number;
  /** The path of a unix socket, which replaces host and port. */
  readonly path: string | undefined;
  readonly db: number;
  readonly username: string | undefined;
  readonly tls: boolean;
}

const DEFAULT_PORT = 6379;
const FORM = 'redis://user@host:6379/0, rediss://user@host:6379/0 or unix:/path?db=0';

/** A password in the URL is rejected, because URLs end up in logs and process lists. */
export function readStoreUrl(text: string): StoreAddress {
  const trimmed = text.trim();
  if (trimmed.startsWith('unix:')) return unixAddress(trimmed);
  if (!URL.canParse(trimmed)) throw invalid('it is not a valid URL');
  const url = new URL(trimmed);
  const tls = url.protocol === 'rediss:';
  if (!tls && url.protocol !== 'redis:') throw invalid('the scheme must be redis, rediss or unix');
  if (url.password !== '') {
    throw new Failure('usage', 'invalid store URL: it contains a password', {
      code: 'BAD_STORE',
      hint: 'remove the password from the URL; save it with "trdr store login", or set TRDR_STORE_PASSWORD',
    });
  }
  if (url.hostname === '') throw invalid('it has no host');
  if (url.search !== '' || url.hash !== '') throw invalid('it must not have a query or a fragment');
  const db = dbOf(url.pathname.replace(/^\//, ''));
  const username = url.username === '' ? undefined : decodePercent(url.username);
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
  const user = url.username === '' ? '' : `${url.username}@`;
  return {
    shown: `${url.protocol}//${user}${url.hostname}:${port}/${db}`,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    path: undefined,
    db,
    username,
    tls,
  };
}

function unixAddress(text: string): StoreAddress {
  const [path = '', query = ''] = text.slice('unix:'.length).replace(/^\/\//, '').split('?', 2);
  if (!path.startsWith('/')) throw invalid('a unix socket needs an absolute path');
  const parameters = new URLSearchParams(query);
  const db = dbOf(parameters.get('db') ?? '');
  const username = parameters.get('user') ?? undefined;
  return {
    shown: `unix:${text.slice('unix:'.length)}`,
    host: '',
    port: 0,
    path,
    db,
    username,
    tls: false,
  };
}

function dbOf(text: string): number {
  if (text === '') return 0;
  if (!/^\d{1,4}$/.test(text)) throw invalid('the database must be a number');
  return Number(text);
}

const invalid = (why: string) =>
  new Failure('usage', `invalid store URL: ${why}`, {
    code: 'BAD_STORE',
    hint: `write it as ${FORM}`,
  });

const isExposed = ({ tls, path, host }: StoreAddress): boolean =>
  !tls && path === undefined && !isLoopback(host.includes(':') ? `[${host}]` : host);

export function checkExposure(address: StoreAddress, plain: boolean): void {
  if (plain || !isExposed(address)) return;
  throw new Failure(
    'usage',
    `the connection to ${address.shown} is not encrypted: the password and answers could be read on the network`,
    {
      code: 'STORE_PLAIN',
      hint: 'use rediss://, or allow it with: trdr config set storePlain true',
    },
  );
}
