/**
 * The cell contract for JavaScript in a jailed Node: the same as in Wasm, plus what only a process can do.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import { jsContract } from '../js-contract.ts';
import { openJsBench } from '../js-wasm/js-bench.ts';

const PLACE = { mode: 'subprocess', engine: 'node' } as const;
const bench = openJsBench({ pool: { size: 1 } }, PLACE);
afterAll(bench.close);
jsContract(bench);
const FS = "const fs = await import('node:fs');\n";

describe('results', () => {
  test('output of the skill goes to the log and never becomes the result', async () => {
    const skill = bench.skill(`
      console.log('loading');
      export function execute() { console.error('calling'); return 1; }
    `);
    const { result, logs } = await bench.succeed(skill);
    expect([result, logs.split('\n').toSorted()]).toEqual([1, ['', 'calling', 'loading']]);
  });
});

describe('the entry of a skill', () => {
  test('can be TypeScript that imports other files, JSON and skillcell: modules', async () => {
    const skill = bench.skill({
      source: `
        import { double, type Amount } from './lib/double.js';
        import data from './lib/data.json';
        import { readFile } from 'skillcell:fs';
        import { env } from 'skillcell:env';
        export async function execute({ n }: { n: Amount }): Promise<unknown> {
          return [double(n), data.a, await readFile('lib/note.txt', 'utf8'), env['TEST_DECLARED']];
        }
      `,
      manifest: { env_vars: { TEST_DECLARED: {} } },
      files: {
        'lib/double.ts':
          'export type Amount = number;\nexport const double = (n: Amount): Amount => n * 2;\n',
        'lib/data.json': '{ "a": "ä" }',
        'lib/note.txt': 'a note',
        'package.json': '{ "type": "commonjs" }',
      },
    });
    const { result, warnings } = await bench.succeed(skill, { n: 4 });
    expect(result).toEqual([8, 'ä', 'a note', 'a value with ü = and spaces']);
    expect(warnings.filter((text) => text.includes('imports'))).toEqual([]);
  });

  test('keeps no state from one call to the next', async () => {
    const skill = bench.skill(`
      import { existsSync, writeFileSync } from 'node:fs';
      let calls = 0;
      export function execute() {
        const before = existsSync('/tmp/left');
        writeFileSync('/tmp/left', 'x');
        globalThis.left = (globalThis.left ?? 0) + 1;
        return [++calls, before, globalThis.left];
      }
    `);
    for (let call = 0; call < 3; call++) expect((await bench.succeed(skill)).result).toEqual([1, false, 1]);
  });

  test('is loaded in a pre-started cell before its call', async () => {
    const skill = await bench.runtime.load(
      bench.skill('const at = performance.now();\nexport const execute = () => performance.now() - at;'),
    );
    await bench.runtime.warm(skill);
    expect((await bench.runtime.execute(skill, {})).execution).toMatchObject({ start: 'pool', wall: 'jail' });
  });
});

describe('failures', () => {
  test('exit is reported as an error of the skill', async () => {
    const { error } = await bench.fail(bench.skillThat('process.exit(0)'));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type: 'Exit' } });
    expect(error.message).toContain('exit(0)');
  });

  test('a process that exits without a reply is reported with its exit code', async () => {
    const { error } = await bench.fail(bench.skillThat('process.reallyExit(3)'));
    expect(error).toMatchObject({ code: 'skill_error', detail: { exit_code: 3 } });
  });

  test.each([
    ['closes the channel', `${FS}fs.closeSync(3);\nreturn 1`],
    ['writes garbage into the channel', `${FS}fs.writeSync(3, Buffer.alloc(64, 255));\nreturn 1`],
    ['aborts', 'process.abort()'],
  ])('a skill that %s fails', async (_, body) => {
    const { error } = await bench.fail(bench.skillThat(body));
    expect(['skill_error', 'resource_exceeded']).toContain(error.code);
    expect(error.detail['limit']).not.toBe('memory');
  });
});
