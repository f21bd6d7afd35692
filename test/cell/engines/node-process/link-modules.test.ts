/**
 * The modules of a cell as one script: it does what the modules do, or it is refused.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { linkModules } from '../../../../src/cell/engines/node-process/link-modules.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';

const folder = openFolder();
afterAll(() => removeFolder(folder));
let scripts = 0;

/** What `globalThis.seen` is after the linked script ran. */
async function seenBy(texts: Record<string, string>): Promise<unknown> {
  const path = join(folder, `script${scripts++}.cjs`);
  writeFileSync(path, linkModules(texts, 'cell/main.ts'));
  createRequire(import.meta.url)(path);
  await new Promise((resolve) => setImmediate(resolve));
  return (globalThis as { seen?: unknown }).seen;
}

describe('linked modules', () => {
  test('run once each, in the order of their imports, and see what they import', async () => {
    const seen = await seenBy({
      'cell/main.ts': `import { add, Counter as Other } from '../shared.ts';
import {
  later,
} from './later.ts';
import { basename } from 'node:path';
globalThis.seen = [add(1), new Other().count, later, basename('/a/b'), globalThis.order];`,
      'cell/later.ts': `import { add } from '../shared.ts';
globalThis.order.push('later');
export const later = add(2);`,
      'shared.ts': `(globalThis.order ??= []).push('shared');
const STEP = 10;
export function add(value) { return value + STEP; }
export          class Counter { count = 7; }
export async function unused() {}
export function* alsoUnused() {}`,
    });
    expect(seen).toEqual([11, 7, 12, 'b', ['shared', 'later']]);
  });

  test('may wait in the entry, and know their own place', async () => {
    const texts = { 'cell/main.ts': `await null;\nglobalThis.seen = new URL('..', import.meta.url).href;` };
    expect(await seenBy(texts)).toBe(new URL('..', pathToFileURL(join(folder, 'x'))).href);
  });

  test('do not see what other modules keep to themselves', async () => {
    const texts = {
      'cell/main.ts': `import { one } from './one.ts';\nglobalThis.seen = [one, typeof secret];`,
      'cell/one.ts': `const secret = 1;\nexport const one = secret;`,
    };
    expect(await seenBy(texts)).toEqual([1, 'undefined']);
  });

  test.each([
    ['a default export', 'export default 1;'],
    ['an export that can change', 'export let one = 1;'],
    ['a list of exports', 'const one = 1;\nexport { one };'],
    ['an import of everything', "import * as fs from 'node:fs';"],
    ['a default import', "import fs from 'node:fs';"],
    ['an import for its effects', "import 'node:fs';"],
    ['a missing module', "import { one } from './missing.ts';"],
    ['a module that imports itself', "import { one } from './main.ts';"],
  ])('are refused if there is %s', (_, text) => {
    expect(() => linkModules({ 'cell/main.ts': text }, 'cell/main.ts')).toThrow(
      /cannot be linked|no module|imports itself/,
    );
  });
});
