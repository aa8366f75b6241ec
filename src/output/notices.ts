import type { Writable } from 'node:stream';
import { group } from '../base/units.ts';
import { jsonLine } from './format/ndjson.ts';
import { asciiOnly, safeLine } from './terminal/safe-text.ts';

export type LogForm = 'plain' | 'stamped' | 'json';

type LogLevel = 'debug' | 'info' | 'warning' | 'error';

interface NoticeOptions {
  readonly stream: () => Writable;
  /** Suppresses all notices except those of level `debug`. */
  readonly quiet: boolean;
  readonly unicode: boolean;
  readonly form?: LogForm | undefined;
  readonly journal?: boolean | undefined;
  readonly now?: (() => number) | undefined;
  /** Lays out text for a terminal; undefined if each notice is one line. */
  readonly layout?: ((label: string, text: string) => readonly string[]) | undefined;
}

/** Errors of a closed stderr are ignored. */
export function createNotices({
  stream,
  quiet,
  unicode,
  form = 'plain',
  journal = false,
  now = () => 0,
  layout = (label, text) => [label + text],
}: NoticeOptions): (text: string, level?: LogLevel) => void {
  let out: Writable | undefined;
  return (text, level = levelOf(text)) => {
    if (quiet && level !== 'debug') return;
    out ??= stream().on('error', () => {});
    if (out.destroyed) return;
    const line = safeLine(text);
    const before = journal ? journalPrefix(level) : '';
    const shown = unicode ? line : asciiOnly(line);
    const time = form === 'plain' ? '' : new Date(now()).toISOString();
    if (form === 'json') out.write(`${before}${jsonLine({ time, level, message: line })}\n`);
    else if (journal) out.write(`${before}${shown}\n`);
    else if (form === 'stamped') out.write(`${time} trdr: ${shown}\n`);
    else out.write(`${layout('trdr: ', shown).join('\n')}\n`);
  };
}

const levelOf = (text: string): LogLevel => (/^(?:warning|GAP):/.test(text) ? 'warning' : 'info');

const priorities: Readonly<Record<LogLevel, number>> = { debug: 7, info: 6, warning: 4, error: 3 };

/** The systemd journal reads and removes this prefix (sd-daemon(3)). */
export const journalPrefix = (level: LogLevel): string => `<${priorities[level]}>`;

/** A longer list would hide what else a run says. */
export const NAMES_SHOWN = 20;

/** `mira theo and 1,203 more`. */
export function namesText(names: readonly string[]): string {
  const rest = names.length - NAMES_SHOWN;
  return `${safeLine(names.slice(0, NAMES_SHOWN).join(' '))}${rest > 0 ? ` and ${group(rest)} more` : ''}`;
}
