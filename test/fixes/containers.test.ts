/**
 * Fixes of container skills. They are followed with the base image that `skillcell build --base python` makes, which needs
 * neither a registry nor an engine; running needs crun, as the container suites do.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Scenes, type Row } from './scene.ts';

const scenes = new Scenes();
afterAll(() => scenes[Symbol.asyncDispose]());

const SOURCE = 'def execute(params):\n    return 1\n';
const container = (
  manifest: Record<string, unknown>,
  files: Record<string, string> = {},
): Pick<Row, 'skill'> => ({
  skill: { source: SOURCE, files, manifest: { execution: ['container'], ...manifest } },
});
const FROM_BASE = 'FROM localhost/skillcell-python\nCOPY skill.py ./\n';
const unavailable = { code: 'skill_unavailable' } as const;

const ROWS: Row[] = [
  {
    ...container({}),
    ...unavailable,
    name: 'a manifest that names no image',
    says: /Set container in ".*": \{ image: "localhost\/skillcell-python:latest" \}\. Then run `skillcell build --base python` and `skillcell build .*`\.$/,
  },
  {
    ...container({ container: { dockerfile: 'Dockerfile' } }, { Dockerfile: FROM_BASE }),
    ...unavailable,
    name: 'an image that was not built yet',
    says: /^Get it with: skillcell build /,
  },
  {
    ...container({ container: { image: 'localhost/skillcell-python:latest' } }),
    code: 'manifest_drift',
    name: 'code that changed after its image was pinned',
    arrange: async (arranged, { cwd, dir }) => {
      await arranged.run(`skillcell build ${dir}`, cwd);
      writeFileSync(join(dir, 'skill.py'), `# changed\n${SOURCE}`);
    },
    says: /accept it with `skillcell lock .*`/,
  },
  {
    skill: {
      source: 'def execute(params):\n    return open(params["path"]).read()\n',
      manifest: { execution: ['container'], container: { image: 'localhost/skillcell-python:latest' } },
    },
    code: 'capability_denied',
    name: 'a file of the workspace that the manifest does not declare',
    params: { path: '/workspace/a.txt' },
    arrange: (arranged, { cwd, dir }) => arranged.run(`skillcell build ${dir}`, cwd).then(() => undefined),
    says: /Add to capabilities\.filesystem in ".*": \{ path: "\$\{workspace\}\/a\.txt", access: read \}\. Then run `skillcell lock/,
  },
  {
    ...container({ container: { dockerfile: 'Containerfile' } }, { Dockerfile: FROM_BASE }),
    code: 'manifest_invalid',
    name: 'a Dockerfile under another name',
    advice: true,
    says: /^Set "container\.dockerfile" to the path of a file in the bundle/,
  },
  {
    ...container({ container: { image: 'python:3' } }),
    code: 'manifest_invalid',
    name: 'an image without a registry',
    advice: true,
    says: /^Correct the named places in manifest\.yaml/,
  },
];

test.each(ROWS)('$name', async (row) => {
  expect(await scenes.prove(row)).not.toBe('');
});
