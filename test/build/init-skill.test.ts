import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSkill, initSkill, LANGUAGES } from '../../src/index.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';

interface Case {
  params: object;
  result: object;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILD_MS = 240_000;
let opened: TestRuntime;

beforeAll(() => {
  opened = openTestRuntime({ audit: false });
});

afterAll(() => opened.close());

describe.each(LANGUAGES)('the template for %s', (language) => {
  test(
    'is a skill that works as it is',
    async () => {
      const { dir, files } = initSkill(`demo/try_${language}`, { language, cwd: opened.folder });
      expect(dir).toBe(join(opened.folder, 'skills/demo', `try_${language}`));
      expect(files).toContain('README.md');
      if (language !== 'python' && language !== 'typescript') buildSkill(dir);
      const skill = await opened.runtime.load(dir);
      expect(skill.bundle.manifest.name).toBe(`demo/try_${language}`);
      const cases = JSON.parse(readFileSync(join(dir, 'cases.json'), 'utf8')) as Case[];
      for (const { params, result } of cases) {
        expect((await opened.runtime.execute(skill, params)).result).toEqual(result);
      }
      expect(cases.length).toBeGreaterThan(0);
    },
    BUILD_MS,
  );

  test('leaves no placeholder unfilled', () => {
    const { dir, files } = initSkill('demo/filled', { language, cwd: join(opened.folder, language) });
    const unfilled = files.filter((file) => readFileSync(join(dir, file), 'utf8').includes('{{name}}'));
    expect(unfilled).toEqual([]);
  });
});

describe('init', () => {
  test('overwrites nothing', () => {
    const dir = join(opened.folder, 'mine');
    initSkill('demo/mine', { language: 'c', dir });
    writeFileSync(join(dir, 'README.md'), 'my own words');
    expect(() => initSkill('demo/mine', { language: 'rust', dir })).toThrow('exists and is not empty');
    expect(readFileSync(join(dir, 'README.md'), 'utf8')).toBe('my own words');
  });

  test.each(['plain', 'a/b/c', '../out/side', 'Demo/Upper', '/etc/skill', 'a/', ''])(
    'refuses the name "%s"',
    (name) => {
      expect(() => initSkill(name, { language: 'c', cwd: opened.folder })).toThrow('is no name of a skill');
    },
  );

  test('refuses an unknown language, and a folder of the package is none', () => {
    for (const language of ['cobol', '..', 'constructor']) {
      expect(() => initSkill('demo/x', { language, cwd: opened.folder })).toThrow('There is no template for');
    }
    expect(existsSync(join(opened.folder, 'skills/demo/x'))).toBe(false);
  });
});

test.each(['skillcell.h', 'skillcell.rs'])('every copy of %s is the same', (name) => {
  const copies = globSync(`{templates,skills}/**/${name}`, { cwd: ROOT });
  expect(copies.length).toBeGreaterThan(1);
  expect(new Set(copies.map((file) => readFileSync(join(ROOT, file), 'utf8'))).size).toBe(1);
});
