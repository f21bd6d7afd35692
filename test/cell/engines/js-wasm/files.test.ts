/**
 * Skills can read files of the bundle and granted files, and import only files of the bundle.
 *
 * @module
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openJsBench } from './js-bench.ts';

const bench = openJsBench();
afterAll(bench.close);

describe('reading', () => {
  const workspace = join(bench.folder, 'workspace');
  const source = `
    import { readDir, readFile, stat } from 'skillcell:fs';
    export async function execute({ act, path }) {
      if (act === 'list') return (await readDir(path)).map(({ name, type }) => name + ' ' + type);
      if (act === 'stat') return (await stat(path)).size;
      if (act === 'bytes') return [...(await readFile(path))];
      return await readFile(path, 'utf8').catch(({ name, code, message }) => [name, code, message]);
    }
  `;
  let skill: string;
  const ask = async (act: string, path: string): Promise<unknown> =>
    (await bench.succeed(skill, { act, path }, { workspace })).result;

  beforeAll(() => {
    mkdirSync(join(workspace, 'in', 'deep'), { recursive: true });
    writeFileSync(join(workspace, 'in', 'a.txt'), 'ä');
    writeFileSync(join(workspace, 'in', 'deep', 'b.bin'), Buffer.from([0, 255, 128]));
    writeFileSync(join(workspace, 'in', 'large.txt'), 'x'.repeat(3_000_000));
    writeFileSync(join(workspace, 'one.txt'), 'one');
    writeFileSync(join(workspace, 'secret.txt'), 'secret');
    symlinkSync('../secret.txt', join(workspace, 'in', 'link'));
    const filesystem = ['in', 'one.txt'].map((name) => ({ path: `\${workspace}/${name}`, access: 'read' }));
    skill = bench.skill({
      source,
      manifest: { capabilities: { filesystem } },
      files: { 'data/table.csv': 'a,b' },
    });
  });

  test('files of the bundle are read by relative paths', async () => {
    expect(await ask('read', 'data/table.csv')).toBe('a,b');
    expect(await ask('read', '/skill/data/../data/table.csv')).toBe('a,b');
    expect(await ask('list', '.')).toEqual(['data directory', 'manifest.yaml file', 'skill.ts file']);
  });

  test('granted folders and files are readable', async () => {
    expect(await ask('read', '/workspace/in/a.txt')).toBe('ä');
    expect(await ask('bytes', '/workspace/in/deep/b.bin')).toEqual([0, 255, 128]);
    expect(await ask('stat', '/workspace/in/large.txt')).toBe(3_000_000);
    expect(await ask('list', '/workspace/in/deep')).toEqual(['b.bin file']);
    expect(await ask('read', '/workspace/one.txt')).toBe('one');
  });

  test('missing files and folders have the usual errors, and links are not followed', async () => {
    expect(await ask('read', 'missing.txt')).toEqual([
      'Error',
      'ENOENT',
      'ENOENT: no such file or directory, "missing.txt"',
    ]);
    expect(await ask('read', 'data')).toMatchObject({ 1: 'EISDIR' });
    expect(await ask('read', '/workspace/in/link')).not.toContain('secret');
  });

  test('a sibling of a granted folder is denied', async () => {
    expect(await ask('read', '/workspace/in/../secret.txt')).toMatchObject({ 0: 'CapabilityDenied' });
  });
});

describe('imports', () => {
  test('TypeScript, JavaScript and JSON files are found by either extension', async () => {
    const skill = bench.skill({
      source: `
        import { one } from './lib/one.ts';
        import { two } from './lib/two.js';
        import table from './table.json' with { type: 'json' };
        import * as same from './lib/one.js';
        export async function execute() {
          const late = await import('./lib/' + 'late.mjs');
          return [one, two, table, same.one === one, late.default];
        }
      `,
      files: {
        'lib/one.ts': 'export const one: { a: number } = { a: 1 };',
        'lib/two.js': "import { one } from './one.ts';\nexport const two = [one, 2];",
        'lib/late.mjs': 'export default "late";',
        'table.json': '{"__proto__": 1, "text": "</script>\\u2028`${1}"}',
      },
    });
    const table = JSON.parse('{"__proto__": 1, "text": "</script>\\u2028`${1}"}') as object;
    expect((await bench.succeed(skill)).result).toEqual([{ a: 1 }, [{ a: 1 }, 2], table, true, 'late']);
  });

  test.each([
    ['a package', "import 'lodash';", 'is not part of the bundle'],
    ['a module of Node', "import 'node:fs';", 'Node modules such as'],
    ['a file outside', "import '../../etc/passwd';", 'not a file of the bundle'],
    ['a file that is not there', "import './gone.ts';", 'not a file of the bundle'],
    ['a name that the other has not', "import { gone } from './lib.ts';", 'gone'],
  ])('%s cannot be imported', async (_, line, message) => {
    const skill = bench.skill({
      source: `${line}\nexport const execute = () => 1;`,
      files: { 'lib.ts': 'export const here = 1;' },
    });
    const outcome = await bench.run(skill);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(outcome.ok ? '' : outcome.error.message).toContain(message);
  });
});

describe('inspection', () => {
  const load = (source: string, manifest = {}, files = {}): Promise<{ bundle: { warnings: string[] } }> =>
    bench.runtime.load(bench.skill({ source, manifest, files }));

  test.each([
    ['an enumeration', 'export const execute = () => 1;\nenum Kind { A }', 'skill.ts:2', 'enum'],
    ['broken source', '\n\nconst x: = 1;\nexport const execute = () => x;', 'skill.ts:2', 'Unexpected token'],
  ])('%s is refused with its position', async (...row) => {
    const [, source, place, reason] = row;
    await expect(load(source)).rejects.toMatchObject({
      code: 'manifest_drift',
      message: expect.stringContaining(place) as string,
      detail: { drift: [expect.stringContaining(reason) as string] },
    });
  });

  test.each([
    ['deep', `export const execute = () => ${'['.repeat(200_000)}${']'.repeat(200_000)};`],
    ['wide', `export const execute = () => 1;\n${'process.env.x;'.repeat(100_000)}`],
    [
      'full of slashes',
      `export const execute = () => 1;\n//${'/[/'.repeat(100_000)}\nlet x = ${'/[/ '.repeat(20_000)}`,
    ],
  ])('source that is very %s is read or refused without hanging', async (_, source) => {
    const outcome = await load(source).then(
      () => 'loaded',
      ({ code }: { code: string }) => code,
    );
    expect(['loaded', 'manifest_drift', 'manifest_invalid']).toContain(outcome);
  });

  test('an undeclared variable is reported as drift', async () => {
    const source = 'import { key } from "./key.ts";\nexport const execute = () => key;';
    const files = { 'key.ts': '// process.env.COMMENT\nexport const key = process.env.API_KEY;' };
    await expect(load(source, {}, files)).rejects.toMatchObject({
      message: expect.stringContaining('"API_KEY" (key.ts:2)') as string,
    });
    await load(source, { env_vars: { API_KEY: {} } }, files);
  });

  test('undeclared requests, hosts and packages are warnings', async () => {
    const { bundle } = await load(
      'import "left-pad";\nexport const execute = () => fetch("https://api.example.org/x");',
    );
    const warnings = bundle.warnings.join('\n');
    expect(warnings).toContain('The code calls "fetch" (skill.ts:2), but the manifest declares no network.');
    expect(warnings).toContain('The code names the host "api.example.org" (skill.ts:2)');
    expect(warnings).toContain('The code imports "left-pad" (skill.ts:1), which no cell has');
  });

  test('source that nothing imports is ignored', async () => {
    const files = { 'test/skill.test.ts': 'enum A {}\nimport "vitest";\nprocess.env.HIDDEN;' };
    const { bundle } = await load('export const execute = () => 1;', {}, files);
    expect(bundle.warnings).toHaveLength(1);
  });
});
