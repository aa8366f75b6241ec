// Builds a single executable from trdr and the running Node: .binary/trdr. `npm run binary` uses a Node that
// can build executables.
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { root } from './bundle.mjs';
import { cliTable } from './cli-table3.mjs';
import { noticesOf } from './notices.mjs';
import { leaveOut, options, sourcesOf } from './pieces.mjs';

const folder = join(root, '.binary');
const parts = join(folder, 'parts');
const [main, config] = [join(parts, 'main.cjs'), join(parts, 'config.json')];
const output = join(folder, process.platform === 'win32' ? 'trdr.exe' : 'trdr');

const { outputFiles, metafile } = await build({
  ...options,
  stdin: {
    contents:
      "process.on('SIGUSR1', () => {}); import { start } from './src/cli/main.ts'; start();",
    resolveDir: root,
  },
  format: 'cjs',
  plugins: [leaveOut, cliTable],
});
mkdirSync(parts, { recursive: true });
writeFileSync(main, outputFiles[0].text);
writeFileSync(
  join(folder, 'THIRD-PARTY-NOTICES.txt'),
  `${noticesOf(sourcesOf(metafile))}\n${nodeNotice()}`,
);
writeFileSync(
  config,
  JSON.stringify({
    main,
    output,
    executable: process.execPath,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
  }),
);
execFileSync(process.execPath, ['--build-sea', config], { stdio: ['ignore', 'ignore', 'inherit'] });
rmSync(parts, { recursive: true });

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const reported = execFileSync(output, ['--version'], { encoding: 'utf8' }).trim();
if (reported !== version) throw new Error(`the executable reports version ${reported}`);
process.stdout.write(
  `${output}: trdr ${reported} on Node ${process.version}, ${Math.round(statSync(output).size / 1e6)} MB\n`,
);

/** The text of Node's license, because the executable contains Node. If no license file is installed, the text names its URL. */
function nodeNotice() {
  const base = join(dirname(process.execPath), '..');
  const [path] = globSync(['LICENSE', 'share/doc/*node*/LICENSE'], { cwd: base });
  const terms = path
    ? readFileSync(join(base, path), 'utf8')
    : `Its license and those of its dependencies: https://github.com/nodejs/node/blob/${process.version}/LICENSE\n`;
  return `${'-'.repeat(80)}\n\nNode.js ${process.version}\n\n${terms}`;
}
