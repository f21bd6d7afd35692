/**
 * Checks that the source exports only the values that another file imports.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = 'src,guest,test,scripts,attacks,bench,deploy,examples';
const EXPORTED = /^export (?:async |abstract )*(?:const|let|function\*?|class) ([\w$]+)/gm;

type Files = ReadonlyMap<string, string>;

function readFiles(): Files {
  const files = globSync([`{${FOLDERS}}/**/*.{ts,js,mjs}`, 'vitest.config.ts'], { cwd: ROOT });
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
}

/** The files that import a file, also dynamically. */
function importersOf(files: Files): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const [file, source] of files)
    for (const [, specifier = ''] of source.matchAll(/['"](\.{1,2}\/[^'"]+)['"]/g)) {
      const target = normalize(join(dirname(file), specifier));
      importers.set(target, [...(importers.get(target) ?? []), file]);
    }
  return importers;
}

function unusedExports(files: Files): string[] {
  const importers = importersOf(files);
  return [...files].flatMap(([file, source]) => {
    const users = (importers.get(file) ?? []).map((user) => files.get(user) ?? '');
    const names = [...source.matchAll(EXPORTED)].map(([, name = '']) => name);
    const unused = names.filter((name) => !users.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
    return file.startsWith('src/') ? unused.map((name) => `${file} ${name}`) : [];
  });
}

test('every value that a file of src/ exports is imported by another file', () => {
  expect(unusedExports(readFiles())).toEqual([]);
});

test('an exported value that only its own file uses is found', () => {
  const files = new Map([
    ['src/a.ts', 'export const used = 1;\nexport function unused(): void {}\nunused();'],
    ['src/b.ts', "import { used } from './a.ts';"],
  ]);
  expect(unusedExports(files)).toEqual(['src/a.ts unused']);
});
