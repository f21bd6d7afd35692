/**
 * The entries of the public API: complete, usable from a clone, and clear on an old Node.
 */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, readDescription } from '../scripts/make-entries.ts';
import { ROOT } from '../scripts/steps.ts';
import { openFolder, removeFolder } from './write-skill.ts';

const PRETEND_OLD = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.2' } })`;
const entries = entriesOf(readDescription());

let folder: string;

beforeAll(() => {
  folder = openFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/skillcell'));
});

afterAll(() => removeFolder(folder));

function run(file: string, text: string, nodeArgs: string[] = []): SpawnSyncReturns<string> {
  writeFileSync(join(folder, file), text);
  const env = { ...process.env, SKILLCELL_HOME: join(folder, 'home') };
  return spawnSync(process.execPath, [...nodeArgs, file], { cwd: folder, env, encoding: 'utf8' });
}

describe('an entry of the public API', () => {
  test.each(entries)(
    'exports everything of "$subpath" (scripts/make-entries.ts writes it)',
    async (entry) => {
      const target = readDescription().exports[entry.subpath];
      expect(target).toMatchObject({ default: `./${entry.file}` });
      const names = async (path: string): Promise<string[]> =>
        Object.keys((await import(pathToFileURL(join(ROOT, path)).href)) as object).toSorted();
      expect(await names(entry.file)).toEqual(await names(`src/${entry.module}.ts`));
    },
  );

  test('lets the program of the README run in a project that has a clone installed', () => {
    const [, program = ''] = /## From a program.*?```ts\n(.*?)```/s.exec(readReadme()) ?? [];
    const ended = run('program.mts', program);
    expect(ended.stderr).toBe('');
    expect(ended.stdout).toContain("compressed_text: 'Summarize this'");
  });

  test('can be required by a CommonJS program', () => {
    const ended = run('program.cjs', `console.log(typeof require('skillcell').createRuntime);`);
    expect(ended).toMatchObject({ status: 0, stdout: 'function\n' });
  });

  test('says on an old Node which one it needs and what to do', () => {
    const ended = run('old.mjs', `import 'skillcell';`, ['--import', PRETEND_OLD]);
    expect(ended.status).not.toBe(0);
    expect(ended.stderr).toContain(
      'Error: The library skillcell needs Node 24 or newer, and this is Node 20.1.2. Run your program on a newer Node',
    );
  });
});

function readReadme(): string {
  return readFileSync(join(ROOT, 'README.md'), 'utf8');
}
