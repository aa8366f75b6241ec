import { integer } from '../../base/amounts.ts';
import { duration } from '../../base/durations.ts';
import { usageError } from '../../base/failure.ts';
import { time } from '../../base/times.ts';
import { Verification } from '../../contract/records/verification.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import { verificationView, verifiedFilesView } from '../../output/views/verification.ts';
import { checkSameFeed, filesToVerify } from '../../verify/files.ts';
import { IdSet } from '../../verify/id-set.ts';
import { joinFiles } from '../../verify/join.ts';
import { planSample } from '../../verify/sample.ts';
import { type ScannedFile, scanFile } from '../../verify/scan.ts';
import { readRange } from '../args/list-flags.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';
import { approve } from '../run/approve.ts';
import type { Context } from '../run/context.ts';
import { isDryRun } from '../run/dry-run.ts';
import { isRowFormat } from '../run/open-printer.ts';
import { gapText, placeText } from '../tail/notice-text.ts';
import page from './verify.md';

export const verify = command({
  path: 'verify',
  page,
  args: [{ name: 'file', help: 'NDJSON file, plain or gzipped', variadic: true, complete: 'file' }],
  options: {
    since: value('--since', 'verify the stretch that begins at this time', time),
    until: value('--until', 'verify the stretch that ends before this time', time),
    fresh: value('--fresh', 'require that the feed was read completely within this time', duration),
    sample: value(
      '--sample',
      'compare N random pages with the service',
      integer({ min: 1, max: 1_000 }),
    ),
  },
  common: ['output', 'service', 'money'],
  calls: [
    'thesis.all',
    'thesis.token',
    'thesis.user',
    'thesis.userToken',
    'launchpad.callouts',
    'launchpad.callouts.coin',
    'launchpad.callouts.wallet',
  ],
  record: () => Verification,
  exits: [0, 2, 4, 5, 6, 7, 9, 10, 11],
  parse: (files, given) => ({ ...given, files }),
  async run(context, { files, since, until, fresh, sample }) {
    const { settings } = context;
    const { io, signal, waits } = context.terminal;
    const now = io.clock.now();
    const range = readRange({ since, until }, now, settings.utc);
    const ids = new IdSet();
    // Some of the lines may be outside of the verified stretches.
    const picking = { lines: sample === undefined ? 0 : 4 * sample + 20, random: io.random };
    const scanned: ScannedFile[] = [];
    for (const file of filesToVerify(files)) {
      const scan = () => scanFile(file, ids, scanned.length, picking, signal);
      scanned.push(await waits.during(() => `reading ${file}`, scan));
    }
    const choices = checkSameFeed(scanned);
    if (choices > 1) {
      if (sample !== undefined)
        throw usageError(
          '--sample cannot be used with files of different filters',
          'verify those of each list by themselves',
        );
      context.terminal.notice(
        `the files were written with ${choices} different filters, one after another: each is verified for its own`,
      );
    }
    const asked = {
      from: range.since,
      to: range.until === undefined ? undefined : range.until - 1,
      now,
    };
    const joined = joinFiles(scanned, asked);
    const sampled =
      sample === undefined ? undefined : planSample(sampleRun(context), scanned, joined, sample);
    const isRows = isRowFormat(context.settings.format);
    if (
      await isDryRun(
        context,
        sampled?.plan.calls ?? [],
        isRows ? verifiedFilesView : verificationView,
      )
    )
      return 0;
    if (sampled) await approve(sampled.plan, context);
    const found = sampled
      ? await sampled.compare(joined, (id) => ids.has(Buffer.from(id)))
      : joined;
    report(context, scanned, found);
    if (isRows) {
      const { status, from, to, rows, gaps } = found;
      const duplicates = found.files.reduce((sum, file) => sum + file.duplicates, 0);
      const sum = { file: 'all files', status, from, to, rows, duplicates, gaps };
      await context.out.print(
        verifiedFilesView,
        found.files.length > 1 ? [...found.files, sum] : found.files,
      );
    } else await context.out.print(verificationView, [found], { isSingle: true });
    const isFresh = fresh === undefined || checkFresh(context, found, now - fresh);
    return found.status === 'complete' && isFresh ? 0 : 10;
  },
});

const sampleRun = ({ terminal, service }: Context) => ({
  random: terminal.io.random,
  signal: terminal.signal,
  baseUrl: service.scope?.baseUrl,
  client: () => service.client(),
  notice: (line: string) => terminal.notice(line),
});

/** Whether the feed was last read completely after this time; if not, says when. */
function checkFresh({ terminal }: Context, { readAt }: Verification, after: number): boolean {
  if (readAt !== null && readAt >= after) return true;
  const when = readAt === null ? 'at a time that is not known' : placeText({ at: readAt, id: '' });
  terminal.notice(
    `the feed was last read completely ${when}, which is longer ago than --fresh allows`,
  );
  return false;
}

function report(
  { terminal }: Context,
  scanned: readonly ScannedFile[],
  { gaps, status }: Verification,
): void {
  for (const { file, problems, notes } of scanned) {
    for (const problem of problems) terminal.notice(`${file} was changed: ${problem}`);
    for (const note of notes) terminal.notice(`${file}: ${note}`);
  }
  const valid = scanned.flatMap(({ file, certificate, problems }) =>
    certificate && problems.length === 0 ? [{ file, ...certificate.lines }] : [],
  );
  const digests = new Set(valid.map(({ digest }) => digest));
  const parts = valid.filter(({ previous }) => previous !== null && !digests.has(previous));
  for (const { file, before } of parts) {
    const from = placeText(before === null ? null : { at: before, id: '' });
    terminal.notice(
      `${file} continues a file that is not there unchanged: it is verified only for posts after ${from}`,
    );
  }
  for (const { why, ...gap } of gaps) terminal.notice(`GAP: ${gapText(gap)}: ${safeLine(why)}`);
  if (status === 'not verified yet' && parts.length === 0)
    terminal.notice(
      'nothing is verified yet: a tail verifies posts two minutes after they were posted',
    );
}
