// Makes one executable of trdr and the Node that runs this: .binary/trdr. `npm run binary` brings a Node that can.
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { root } from './bundle.mjs';
import { noticesOf } from './notices.mjs';
import { options, sourcesOf, sparing } from './pieces.mjs';

const folder = join(root, '.binary');
const parts = join(folder, 'parts');
const [main, config] = [join(parts, 'main.cjs'), join(parts, 'config.json')];
const output = join(folder, process.platform === 'win32' ? 'trdr.exe' : 'trdr');

const { outputFiles, metafile } = await build({
  ...options,
  stdin: {
    contents: "process.on('SIGUSR1', () => {}); import { start } from './src/cli/main.ts'; start();",
    resolveDir: root,
  },
  format: 'cjs',
  plugins: [sparing],
});
mkdirSync(parts, { recursive: true });
writeFileSync(main, outputFiles[0].text);
writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), `${noticesOf(sourcesOf(metafile))}\n${nodeNotice()}`);
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
const said = execFileSync(output, ['--version'], { encoding: 'utf8' }).trim();
if (said !== version) throw new Error(`the executable says ${said}`);
process.stdout.write(
  `${output}: trdr ${said} on Node ${process.version}, ${Math.round(statSync(output).size / 1e6)} MB\n`,
);

/** The terms of Node, which is in the executable whole: as they were installed with it, or where they stand. */
function nodeNotice() {
  const base = join(dirname(process.execPath), '..');
  const [path] = globSync(['LICENSE', 'share/doc/*node*/LICENSE'], { cwd: base });
  const terms = path
    ? readFileSync(join(base, path), 'utf8')
    : `Its licence and those of what it holds: https://github.com/nodejs/node/blob/${process.version}/LICENSE\n`;
  return `${'-'.repeat(80)}\n\nNode.js ${process.version}\n\n${terms}`;
}
