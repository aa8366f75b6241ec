import type { AnyCommand } from '../command.ts';
import { exitCodes } from '../exit.ts';
import { version } from '../version.ts';
import { rootSections } from './help.ts';
import { type DocPage, docPage, pageName, type Term } from './page.ts';

/** The manual by file name: trdr(1), and a page for each command. */
export function manFiles(commands: readonly AnyCommand[]): Record<string, string> {
  const paths = commands.map(({ path }) => path);
  const pages = commands.map(
    (command) => [`trdr-${pageName(command.path)}.1`, manPage(docPage(command), paths)] as const,
  );
  return { 'trdr.1': overview(commands), ...Object.fromEntries(pages) };
}

const environment: readonly Term[] = [
  ['TRDR_API_KEY', 'the key; it is never taken from the command line'],
  ['TRDR_BASE_URL', 'base URL of the service'],
  ['TRDR_PROFILE', 'the profile in use'],
  ['TRDR_OUTPUT', 'output format'],
  ['TRDR_CONFIG_DIR', 'folder of the settings'],
  ['TRDR_STATE_DIR', 'folder of the ledger and the rate windows'],
  ['TRDR_CACHE_DIR', 'folder of kept answers'],
  ['NO_COLOR, FORCE_COLOR', 'no colour, or colour in any case'],
];

function overview(commands: readonly AnyCommand[]): string {
  const sections = rootSections(commands);
  return document('trdr', [
    section(
      'NAME',
      `trdr \\- ${text('who is behind a handle or a wallet, how they trade, and what they say')}`,
    ),
    section('SYNOPSIS', `.B trdr\n${text('COMMAND [flags]')}`),
    section(
      'DESCRIPTION',
      text(
        'The command-line client of a service for trader identity, trading numbers, the thesis feed and the launchpad. Data goes to stdout; everything else goes to stderr. Each command has a page of its own, as trdr-whois(1). With --sandbox any command runs against the embedded service: no key, no set-up, no network.',
      ),
    ),
    ...sections.map(({ title, commands: inside }) =>
      section(title.toUpperCase(), terms(inside.map(({ path, summary }) => [`trdr ${path}`, summary]))),
    ),
    section('ENVIRONMENT', terms(environment)),
    section('EXIT STATUS', terms(Object.entries(exitCodes).map(([code, meaning]): Term => [code, meaning]))),
    section('SEE ALSO', seeAlso(commands.map(({ path }) => path))),
  ]);
}

function manPage(page: DocPage, paths: readonly string[]): string {
  const { path, summary, usage, about, args, flags, prices, exits, examples } = page;
  const group = path.split(' ')[0] ?? path;
  const near = paths.filter((other) => other !== path && other.split(' ')[0] === group);
  return document(`trdr-${pageName(path)}`, [
    section('NAME', `trdr\\-${text(pageName(path))} \\- ${text(summary)}`),
    section('SYNOPSIS', text(usage)),
    section('DESCRIPTION', about.map(text).join('\n.PP\n')),
    section('ARGUMENTS', terms(args)),
    ...flags.map(({ title, rows }) =>
      section(title === 'Flags' ? 'OPTIONS' : title.toUpperCase(), terms(rows)),
    ),
    section('PRICES', terms(prices)),
    section('EXIT STATUS', terms(exits)),
    section(
      'EXAMPLES',
      examples
        .map(({ run, does }) => `${text(`${does}:`)}\n.PP\n.RS 4\n.nf\n${text(run)}\n.fi\n.RE`)
        .join('\n.PP\n'),
    ),
    section('SEE ALSO', seeAlso(['', ...near])),
  ]);
}

const document = (name: string, parts: readonly string[]) =>
  `${[
    `.TH "${name.toUpperCase()}" "1" "" "trdr ${version}" "trdr manual"`,
    '.nh',
    '.ad l',
    ...parts.filter((part) => part !== ''),
  ].join('\n')}\n`;

const section = (title: string, body: string) => (body === '' ? '' : `.SH ${title}\n${body}`);
const terms = (rows: readonly Term[]) =>
  rows.map(([term, meaning]) => `.TP\n\\fB${text(term)}\\fR\n${text(meaning)}`).join('\n');

const seeAlso = (paths: readonly string[]) =>
  paths
    .map((path) => (path === '' ? 'trdr' : `trdr-${pageName(path)}`))
    .map((name) => `.BR ${text(name)} (1)`)
    .join(' ,\n');

/** Text for roff: its own characters taken as they are, hyphens kept for copying, no line taken for a request. */
const text = (given: string) =>
  given
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(
      /[^\x00-\x7e]/gu,
      (char) => `\\[u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^\./gm, '\\&.');
