import { duration } from '../../base/durations.ts';
import { time } from '../../base/times.ts';
import { countText } from '../../base/units.ts';
import { Verification } from '../../contract/records/verification.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import { verificationView, verifiedFilesView } from '../../output/views/verification.ts';
import { checkSameFeed, filesToVerify } from '../../verify/files.ts';
import { joinFiles } from '../../verify/join.ts';
import { PostIds } from '../../verify/post-ids.ts';
import { type ScannedFile, scanFile } from '../../verify/scan.ts';
import { readRange } from '../args/list-flags.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';
import type { Context } from '../run/context.ts';
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
  },
  common: ['output'],
  record: () => Verification,
  exits: [9, 10],
  parse: (files, flags) => ({ ...flags, files }),
  async run(context, { files, since, until, fresh }) {
    const { settings } = context;
    const { io, signal, waits } = context.terminal;
    const now = io.clock.now();
    const range = readRange({ since, until }, now, settings.utc);
    const ids = new PostIds();
    const scanned: ScannedFile[] = [];
    for (const file of filesToVerify(files)) {
      const scan = () => scanFile(file, ids, signal);
      scanned.push(await waits.during(() => `reading ${file}`, scan));
    }
    const choices = checkSameFeed(scanned);
    if (choices > 1)
      context.terminal.notice(
        `the files were written with ${choices} different filters, one after another: each is verified for its own`,
      );
    const asked = {
      from: range.since,
      to: range.until === undefined ? undefined : range.until - 1,
      now,
    };
    const verification = joinFiles(scanned, asked);
    report(context, scanned, verification);
    const shared = ids.countRepeated();
    if (shared > 0) context.terminal.notice(`${countText(shared, 'post')} in more than one file`);
    const isRows = isRowFormat(context.settings.format);
    if (isRows) {
      const { status, from, to, rows, gaps } = verification;
      const duplicates = verification.files.reduce((sum, file) => sum + file.duplicates, 0);
      const sum = { file: 'all files', status, from, to, rows, duplicates, gaps };
      await context.out.print(
        verifiedFilesView,
        verification.files.length > 1 ? [...verification.files, sum] : verification.files,
      );
    } else await context.out.print(verificationView, [verification], { isSingle: true });
    const isFresh = fresh === undefined || checkFresh(context, verification, now - fresh);
    return verification.status === 'complete' && isFresh ? 0 : 10;
  },
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
