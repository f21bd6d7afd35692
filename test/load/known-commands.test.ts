/**
 * What a worker thread found in a large bundle is kept by the digest of the bundle and by the code that searched.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Commands } from '../../src/load/commands.ts';
import { COMMANDS_HERE, lookForCommands } from '../../src/load/look-for-commands.ts';
import { Offload } from '../../src/offload/offload.ts';
import { folderPerTest } from '../test-folder.ts';

const DIGEST = 'ab'.repeat(32);
const folder = folderPerTest();
let offload: Offload;

beforeEach(() => {
  offload = new Offload();
  mkdirSync(folder.at(DIGEST));
  writeFileSync(
    folder.at(DIGEST, 'install.sh'),
    `curl https://example.invalid\n${'# more\n'.repeat(COMMANDS_HERE.bytes)}`,
  );
});
afterEach(() => offload.close());

function search(build: string | undefined, kind: 'function' | 'script' = 'function'): Promise<Commands> {
  const bundle = { stagedDir: folder.at(DIGEST), paths: ['install.sh'], kind };
  return lookForCommands(bundle, { offload, home: folder.at('home'), build });
}

const searches = (): number => offload.counts.done['findCommands'] ?? 0;

function kept(): string {
  const [name = ''] = readdirSync(folder.at('home', 'inspected'));
  return folder.at('home', 'inspected', name);
}

describe('the commands of a large bundle', () => {
  test('are searched once, by the same code', async () => {
    const first = await search('one');
    expect(first.programs.map(({ value }) => value)).toEqual(['curl']);
    expect(await search('one')).toEqual(first);
    expect(searches()).toBe(1);
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    expect(await search('two')).toEqual(first);
    expect(searches()).toBe(2);
  });

  test('are searched again for a bundle of another kind', async () => {
    await search('one');
    const script = await search('one', 'script');
    expect(script.used).toBeDefined();
    expect(await search('one', 'script')).toEqual(script);
    expect(searches()).toBe(2);
  });

  test('are not kept while the code may change', async () => {
    await search(undefined);
    await search(undefined);
    expect(searches()).toBe(2);
    expect(() => statSync(folder.at('home'))).toThrow('ENOENT');
  });

  test.each([
    ['cut off', (text: string) => text.slice(0, -3)],
    ['with something else', (text: string) => text.replace('"programs"', '"other":1,"programs"')],
    ['without a part', (text: string) => text.replace(/"piped":\[\],/, '')],
    ['of another type', (text: string) => text.replace('"curl"', '7')],
  ])('are searched again if they were kept %s', async (_, change) => {
    const found = await search('one');
    const text = readFileSync(kept(), 'utf8');
    expect(change(text)).not.toBe(text);
    writeFileSync(kept(), change(text));
    expect(await search('one')).toEqual(found);
    expect(searches()).toBe(2);
  });
});
