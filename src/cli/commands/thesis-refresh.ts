import { realPath } from '../../base/files.ts';
import { RefreshedThesis } from '../../contract/records/thesis.ts';
import { checkFiles } from '../args/check-files.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import { refreshJob } from '../lists/refresh-job.ts';
import { runJob } from '../run/job.ts';
import page from './thesis-refresh.md';

export const thesisRefresh = command({
  path: 'thesis refresh',
  page,
  args: [{ name: 'file', help: 'NDJSON file, plain or gzipped', variadic: true, complete: 'file' }],
  options: {
    openOnly: flag('--open-only', 'only theses whose position was open when recorded'),
  },
  common: ['output', 'service', 'money'],
  calls: ['thesis.user', 'thesis.token', 'thesis.all', 'me'],
  record: () => RefreshedThesis,
  parse: (files, flags) => ({ ...flags, files }),
  async run(context, { files, openOnly }) {
    const { terminal, settings } = context;
    const { out } = settings.flags;
    checkFiles([...certificatesOf(files), ...outputsOf(out)], out, terminal.io);
    return await runJob(await refreshJob(context, files, openOnly), context);
  },
});

/** A file may have been compressed since its certificate was written. */
const certificatesOf = (files: readonly string[]) =>
  files.flatMap((file) =>
    [file, realPath(file)]
      .flatMap((path) => [path, path.replace(/\.gz$/, '')])
      .map((name) => ({
        role: `the certificate of ${file}`,
        path: `${name}.trdr`,
      })),
  );

const outputsOf = (out: string | undefined) =>
  out === undefined ? [] : [{ role: '--out', path: out, writes: {} }];
