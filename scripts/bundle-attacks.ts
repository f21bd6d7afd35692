/**
 * Bundles the code of the package `skillcell-attacks`: one file for its runner and one for the program that it starts in a
 * network namespace. They import Skillcell from the installed package.
 *
 *     node scripts/with-node.js scripts/bundle-attacks.ts FOLDER
 *
 * @module
 */
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ROOT } from './steps.ts';

const [, , folder = ''] = process.argv;
if (folder === '') throw new Error('Pass the folder to write to.');

/** The installed Skillcell is attacked, never a copy in this bundle. */
const fromSkillcell: Plugin = {
  name: 'skillcell',
  setup: (bundler) => {
    bundler.onResolve({ filter: /\/src\// }, ({ path }) =>
      path.endsWith('/src/for-attacks.ts')
        ? { path: 'skillcell/for-attacks', external: true }
        : { errors: [{ text: `Attacks may only import src/for-attacks.ts, not ${path}.` }] },
    );
  },
};

await build({
  entryPoints: { main: join(ROOT, 'attacks/main.ts'), names: join(ROOT, 'attacks/network/names.ts') },
  outdir: folder,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  packages: 'external',
  plugins: [fromSkillcell],
});
