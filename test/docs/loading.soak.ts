import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { expect, test } from 'vitest';
import { generateRecords } from '../../src/sandbox/world/generate.ts';
import { createWorld } from '../../src/sandbox/world/world.ts';
import { readPage } from './pages.ts';
import { openMachine } from './run.ts';

const lines = readPage('docs/exports.md').blocks.find(({ info }) => info === 'python')?.text ?? '';
const python = ['python3', '/usr/bin/python3'].find(
  (name) => execaSync(name, ['-c', 'import pandas'], { reject: false }).exitCode === 0,
);

test.skipIf(python === undefined)(
  'the lines for pandas read handles that look like missing values',
  async () => {
    const handles = ['null', 'NA', 'nan', '1e5', 'mira'];
    const world = createWorld(generateRecords(1, Date.now()), 1);
    const numbers = world.pnl('mira');
    const pnl = (handle: string) => {
      return numbers && handles.map((each) => each.toLowerCase()).includes(handle)
        ? { ...numbers, handle }
        : undefined;
    };
    const { workspace, run } = await openMachine({ world: Object.assign(world, { pnl }) });
    const { path: cwd } = workspace;
    writeFileSync(join(cwd, 'handles.txt'), [...handles, 'nobody'].join('\n'));
    for (const out of ['pnl.csv', 'pnl.ndjson'])
      await run('trdr', ['pnl', '--file', 'handles.txt', '--out', out, '--yes']);
    // A second export in the same file repeats every handle.
    appendFileSync(
      join(cwd, 'pnl.csv'),
      readFileSync(join(cwd, 'pnl.csv'), 'utf8').replace(/^.*\n/, ''),
    );
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
