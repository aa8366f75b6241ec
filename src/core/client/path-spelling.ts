import { usageError } from '../../base/failure.ts';
import { endpointIds, OPENAPI_PATH, SOCKET_PATH } from '../../contract/endpoints.ts';
import { endpointRow } from './coding.ts';

interface Known {
  readonly path: string;
  readonly segments: readonly string[];
  /** The names of the query parameters that the path accepts. */
  readonly query: ReadonlySet<string>;
}

/**
 * Rejects a raw path that differs in spelling from a documented path, but that a lenient service could accept
 * as that path. The service would then charge a price that was not compared with the limits of the run.
 */
export function checkSpelling(path: string): void {
  const [, pathname = '', search = ''] = /^([^?]*)\??(.*)$/.exec(path) ?? [];
  const known = tableOf();
  const exact = known.filter(({ segments }) => matches(segments, pathname.split('/'), isOneSegment));
  if (exact.length === 0) {
    const like = known.find(({ segments }) =>
      variantsOf(pathname).some((variant) => matches(lowered(segments), variant.split('/'), isAny)),
    );
    if (like) {
      throw usageError(
        `${bounded(pathname)} differs from ${like.path} only in spelling`,
        `write the path as ${like.path}`,
      );
    }
    return;
  }
  checkQuery(search, new Set(exact.flatMap(({ query }) => [...query])));
}

/**
 * Rejects repeated and misspelled parameters. The price can depend on which of two values the service uses,
 * or on whether it accepts `LIMIT` for `limit`, and trdr cannot know this.
 */
function checkQuery(search: string, known: ReadonlySet<string>): void {
  const seen = new Set<string>();
  for (const [, separator, part = ''] of search.matchAll(/(^|[&;])([^&;]*)/g)) {
    if (part === '') continue;
    const [given = ''] = part.split('=');
    const name = normalName(given);
    if (seen.has(name))
      throw usageError(`the parameter "${bounded(name)}" is repeated`, 'give each parameter once');
    seen.add(name);
    if (!known.has(name)) continue;
    if (separator === ';')
      throw usageError(
        `the service may read the ; before "${name}" as part of a value or as a separator`,
        'separate parameters with &; write a ; inside a value as %3B',
      );
    if (name !== given)
      throw usageError(
        `the service may read the parameter "${bounded(given)}" as "${name}"`,
        `write the parameter as ${name}=...`,
      );
  }
}

/** All paths in the service description. */
function tableOf(): Known[] {
  const rows = endpointIds.map((id) => {
    const { path, query } = endpointRow(id);
    return { path, query: new Set(Object.keys(query.def.shape)) };
  });
  const others = [SOCKET_PATH, OPENAPI_PATH].map((path) => ({ path, query: new Set<string>() }));
  return [...rows, ...others].map((row) => ({ ...row, segments: row.path.split('/') }));
}

/** Whether path segments match a template; `fits` decides for path parameters. */
function matches(
  template: readonly string[],
  segments: readonly string[],
  fits: (segment: string) => boolean,
): boolean {
  return (
    template.length === segments.length &&
    template.every((part, at) => {
      const segment = segments[at] ?? '';
      return part.startsWith('{') ? fits(segment) : part === segment;
    })
  );
}

const lowered = (segments: readonly string[]) =>
  segments.map((part) => (part.startsWith('{') ? part : part.toLowerCase()));

const isAny = (segment: string) => segment !== '';
/** Whether a path parameter is exactly one segment, however a server decodes the path. */
export const isOneSegment = (segment: string) => {
  const text = decoded(segment);
  return !/^\.{0,2}$/.test(text) && !/[/\\\p{Cc}]/u.test(text) && text.trim() === text;
};

/**
 * How lenient services may read a path: some decode it before they split it into segments, others decode each
 * segment.
 */
function variantsOf(pathname: string): string[] {
  const whole = decoded(pathname);
  const parted = pathname
    .split('/')
    .map((segment) => decoded(segment).replace(/[/\\]/g, '_'))
    .join('/');
  return [whole, parted].map(normalPath);
}

/**
 * Normalizes a path: lower case, without matrix parameters, white space, empty segments and dot segments.
 */
function normalPath(path: string): string {
  const out: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
    const segment = (part.split(/[;?#]/)[0] ?? '')
      .replace(/[\p{Cc}\p{Cf}\s]/gu, '')
      .normalize('NFKC')
      .toLowerCase();
    if (segment === '..') out.pop();
    else if (segment !== '' && segment !== '.') out.push(segment);
  }
  return `/${out.join('/')}`;
}

const normalName = (name: string) =>
  decoded(name.replaceAll('+', ' '))
    .replace(/[\p{Cc}\p{Cf}\s]/gu, '')
    .replace(/\[.*$/s, '')
    .normalize('NFKC')
    .toLowerCase();

/** The maximum number of levels of percent-encoding that are decoded. */
const LAYERS = 5;

/** Decodes up to `LAYERS` levels of percent-encoding. Invalid encoding stays unchanged. */
function decoded(text: string): string {
  let current = text;
  for (let layer = 0; layer < LAYERS; layer++) {
    const next = current.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
      try {
        return decodeURIComponent(escapes);
      } catch {
        return escapes;
      }
    });
    if (next === current) break;
    current = next;
  }
  return current;
}

const bounded = (text: string) => text.slice(0, 200);
