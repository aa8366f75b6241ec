// cli-table3 measures text with a string-width of its own, which is years older than ours. Where the two differ, as for combining
// characters, a line would be wider than the terminal. So it becomes a module that gets the `widthOf` of the program, in the build and
// in tests.
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './bundle.mjs';

const name = 'cli-table3';

/** The code of the module. `@colors/colors`, which would color frames, is left out. */
async function moduleCode() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [name],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
    external: ['string-width', '@colors/colors'],
  });
  const width = join(root, 'src/output/terminal/width.ts');
  return `import { widthOf } from ${JSON.stringify(width)};
    const module = { exports: {} };
    ((module, exports, require) => {
      ${outputFiles[0].text}
    })(module, module.exports, (name) => (name === 'string-width' ? widthOf : {}));
    export default module.exports;`;
}

/** For esbuild. The path makes the package appear in the notices. */
export const cliTable = {
  name,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cli-table3$/ }, ({ kind }) =>
      kind === 'entry-point'
        ? undefined
        : { path: `node_modules/${name}/index.js`, namespace: name },
    );
    onLoad({ filter: /./, namespace: name }, async () => ({
      contents: await moduleCode(),
      resolveDir: root,
    }));
  },
};

/** For Vite. */
export const cliTableForTests = {
  name,
  enforce: 'pre',
  resolveId: (id) => (id === name ? `\0${name}` : undefined),
  load: (id) => (id === `\0${name}` ? moduleCode() : undefined),
};
