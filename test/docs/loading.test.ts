import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { generateRecords } from '../../src/sandbox/world/generated/index.ts';
import { createWorld } from '../../src/sandbox/world/world.ts';
import { readPage } from './pages.ts';
import { openWorkspace } from './run.ts';

const lines = readPage('docs/exports.md').blocks.find(({ info }) => info === 'python')?.text ?? '';
const python = ['python3', '/usr/bin/python3'].find(
  (name) => execaSync(name, ['-c', 'import pandas'], { reject: false }).exitCode === 0,
);

test.skipIf(python === undefined)(
  'the lines for pandas read handles that look like missing values',
  async () => {
    const handles = ['null', 'NA', 'nan', '1e5', 'mira'];
    const world = createWorld(generateRecords(1, Date.now()), 1);
    const pnl = (handle: string) => {
      const numbers = world.pnl('mira');
      return numbers && handles.map((each) => each.toLowerCase()).includes(handle)
        ? { ...numbers, handle }
        : undefined;
    };
    const service = await startSandbox({ plan: 'scale', world: { ...world, pnl } });
    const workspace = openWorkspace({ TRDR_BASE_URL: service.url, TRDR_API_KEY: service.key });
    onTestFinished(async () => {
      await service.close();
      workspace.close();
    });
    const { path: cwd, env } = workspace;
    const run = (file: string, words: readonly string[]) =>
      execa(file, words, { cwd, env, extendEnv: false });
    writeFileSync(join(cwd, 'handles.txt'), [...handles, 'nobody'].join('\n'));
    for (const out of ['pnl.csv', 'pnl.ndjson'])
      await run('trdr', ['pnl', '--file', 'handles.txt', '--out', out, '--yes']);
    // A second export in the same file repeats every handle.
    appendFileSync(join(cwd, 'pnl.csv'), readFileSync(join(cwd, 'pnl.csv'), 'utf8').replace(/^.*\n/, ''));
    const seen = `import json
print(json.dumps([sorted(wide.index), len(wide.columns), int(wide['7d'].isna().sum()), str(flat['netUsd'].dtype),
  list(records['subject']), [None if pd.isna(each) else each for each in records['handle']]]))`;
    const { stdout } = await run(python ?? '', ['-c', `${lines}${seen}`]);
    expect(JSON.parse(stdout)).toEqual([
      ...[[...handles, 'nobody'].sort(), 4, 1, 'float64'],
      ...[
        [...handles, 'nobody'],
        [...handles.map((handle) => handle.toLowerCase()), null],
      ],
    ]);
  },
);
