import { integer } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { realPath, statsOf } from '../../base/files.ts';
import { time } from '../../base/times.ts';
import { Verification } from '../../contract/records/verification.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import { verificationView, verifiedFilesView } from '../../output/views/verification.ts';
import { readRange } from '../args/list-flags.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';
import { isRowFormat } from '../output/output.ts';
import type { Context } from '../run/context.ts';
import { isDryRun } from '../run/dry-run.ts';
import { gapText, placeText } from '../tail/notice-text.ts';
import { IdSet } from '../verify/id-set.ts';
import { joinFiles } from '../verify/join.ts';
import { planSample } from '../verify/sample.ts';
import { type ScannedFile, scanFile } from '../verify/scan.ts';

export const verify = command({
  path: 'verify',
  summary: 'Verify that files of a tail or a list are complete and unchanged',
  about: [
    'Compares each file with its certificate, the file FILE.trdr beside it, which "thesis tail --out", "launchpad tail --out", "thesis list --out" and "launchpad callouts --out" write. Counts the posts, computes their digest, looks for duplicates, and joins the verified stretches of all files: pass all files of a --rotate, in any order; a certificate that a pattern also matches stands for its file. Sends no requests without --sample.',
    'Prints a table of the files and their sum, or one record. The status is "complete", "gaps", "no certificate" or "changed", the worst of the files. Exits 0 only if the status is "complete", and 10 otherwise. stderr states every gap and every difference.',
    'Posts that a running tail has written since its last verification are counted, but not vouched for: a tail verifies posts two minutes after they were posted. docs/proof.md explains what is promised, and how to verify a file without trdr.',
    '--sample N requests N random pages of the verified stretches again, for 200 CU each (launchpad: 10 CU), and looks for posts that are not in the files.',
  ],
  args: [{ name: 'file', help: 'NDJSON file, plain or gzipped', variadic: true, complete: 'file' }],
  options: {
    since: value('--since', 'verify the stretch that begins at this time', time),
    until: value('--until', 'verify the stretch that ends before this time', time),
    sample: value(
      '--sample',
      'compare N random pages with the service',
      integer({ min: 1, max: 1_000 }),
    ),
  },
  common: ['output', 'service', 'money'],
  examples: {
    'trdr verify theses.ndjson': 'verify one file',
    'trdr verify theses.*.ndjson* theses.ndjson --since 7d':
      'verify that rotated files, some of them gzipped, cover the last week',
    'trdr verify theses.ndjson -q > /dev/null || echo "theses.ndjson is not complete" | mail -s trdr ops':
      'send a mail if a file is not complete',
    'trdr verify theses.ndjson --sample 5 --max-cu 1k': 'compare five random pages, for 1,000 CU',
  },
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
  async run(context, { files, since, until, sample }) {
    const { io } = context.terminal;
    const { settings } = context;
    const range = readRange({ since, until }, io.clock.now(), settings.utc);
    const ids = new IdSet();
    // Some of the lines may be outside of the verified stretches.
    const picking = { lines: sample === undefined ? 0 : 4 * sample + 20, random: io.random };
    const scanned: ScannedFile[] = [];
    for (const file of distinctFiles(files))
      scanned.push(await scanFile(file, ids, scanned.length, picking));
    sameFeed(scanned);
    const asked = {
      from: range.since,
      to: range.until === undefined ? undefined : range.until - 1,
    };
    const joined = joinFiles(scanned, asked);
    const plan = sample === undefined ? undefined : planSample(context, scanned, joined, sample);
    const isRows = isRowFormat(context.settings.format);
    if (await isDryRun(context, plan?.calls ?? [], isRows ? verifiedFilesView : verificationView))
      return 0;
    const found = plan ? await plan.compare(joined, (id) => ids.has(Buffer.from(id))) : joined;
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
    return found.status === 'complete' ? 0 : 10;
  },
});

/** A certificate, which a pattern may match, stands for its file. */
function distinctFiles(given: readonly string[]): string[] {
  const seen = new Set<string>();
  return given.map(certifiedFile).filter((file) => {
    const path = realPath(file);
    return !seen.has(path) && seen.add(path);
  });
}

const CERTIFICATE = '.trdr';

function certifiedFile(given: string): string {
  if (!given.endsWith(CERTIFICATE)) return given;
  const file = given.slice(0, -CERTIFICATE.length);
  return statsOf(file) === undefined && statsOf(`${file}.gz`) ? `${file}.gz` : file;
}

/** Certificates of different feeds cannot be joined. */
function sameFeed(scanned: readonly ScannedFile[]): void {
  const named = scanned.flatMap(({ file, certificate }) =>
    certificate ? { file, feed: `${certificate.feed} ${JSON.stringify(certificate.filters)}` } : [],
  );
  const [first] = named;
  const other = named.find(({ feed }) => feed !== first?.feed);
  if (!first || !other) return;
  throw usageError(
    `${first.file} and ${other.file} are of different feeds or filters: ${safeLine(first.feed)}, and ${safeLine(other.feed)}`,
    'verify each feed by itself',
  );
}

function report(
  { terminal }: Context,
  scanned: readonly ScannedFile[],
  { gaps, from }: Verification,
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
  if (from === null && valid.length > 0 && parts.length === 0)
    terminal.notice(
      'nothing is verified yet: a tail verifies posts two minutes after they were posted',
    );
}
