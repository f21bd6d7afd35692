/**
 * A script with packages is bundled into one file that runs like plain source.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildSkill } from '../../src/inside.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';

const { runtime, folder, close } = openTestRuntime({ audit: false });
afterAll(close);

function write(name: string, files: Record<string, string>): string {
  const dir = join(folder, 'skills/demo', name);
  const manifest = `{ name: demo/${name}, version: 1.0.0, description: A test., execution: wasm, capabilities: {} }`;
  for (const [path, text] of Object.entries({ 'manifest.yaml': manifest, ...files })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

test.each(['src/index.ts', 'src/index.js'])(
  '%s is bundled with an ESM and a CommonJS package',
  async (source) => {
    const dir = write(source.replaceAll(/\W/g, '_'), {
      [source]: `
      import { stat } from 'skillcell:fs';
      import shout from 'shout';
      import old from 'old';
      import { own } from './own.js';
      export async function execute({ text }) {
        return [shout(text), old.twice(text), own, typeof stat, process.env.NODE_ENV];
      }
    `,
      'src/own.js': 'export const own = "own";',
    });
    // Next to the bundle, as in an npm project, because everything inside a bundle runs.
    const packages = {
      'shout/package.json': '{"name":"shout","type":"module","main":"main.js"}',
      'shout/main.js': 'export default (text) => text.toUpperCase() + "!";',
      'old/package.json': '{"name":"old","main":"main.js"}',
      'old/main.js': 'exports.twice = (text) => text + text;',
    };
    for (const [path, text] of Object.entries(packages)) {
      mkdirSync(dirname(join(folder, 'node_modules', path)), { recursive: true });
      writeFileSync(join(folder, 'node_modules', path), text);
    }
    const { file, language } = buildSkill(dir);
    expect([file, language]).toEqual([join(dir, 'skill.js'), expect.stringContaining('with packages')]);
    const skill = await runtime.load(dir);
    expect(skill.bundle.entry).toBe('skill.js');
    const { result, execution } = await runtime.execute(skill, { text: 'ha' });
    expect(result).toEqual(['HA!', 'haha', 'own', 'function', 'production']);
    expect(execution?.engine).toBe('js-wasm');
  },
);

test('an import that cannot be bundled is reported', () => {
  const dir = write('wrong', { 'src/index.ts': 'import "not-there";\nexport const execute = () => 1;' });
  expect(() => buildSkill(dir)).toThrow('The script was not built');
  expect(() => readFileSync(join(dir, 'skill.js'))).toThrow('ENOENT');
});
