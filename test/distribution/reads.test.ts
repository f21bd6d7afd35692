/**
 * No file of a skill is read twice, however large the skill is: neither what a source delivers, nor what was written for
 * it, nor the copy that is here.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFolder, removeFolder } from '../write-skill.ts';
import { PersonLine, type Ended } from './person-line.ts';

const HOOK = fileURLToPath(new URL('count-reads.mjs', import.meta.url));
const SIZES = { small: 5, large: 1200 };
let folder = '';

beforeAll(() => {
  folder = openFolder();
});
afterAll(() => removeFolder(folder));

/** An Agent Skills folder with so many files. */
function writeMany(name: string, count: number): string {
  const skill = join(folder, 'authors', name);
  const texts = new Map([
    ['SKILL.md', `---\nname: ${name}\ndescription: Has many files.\n---\nRead them.\n`],
  ]);
  for (let at = 1; at < count; at++) texts.set(`references/${at % 20}/${at}.md`, `# ${at}\n`);
  for (const [path, text] of texts) {
    mkdirSync(dirname(join(skill, path)), { recursive: true });
    writeFileSync(join(skill, path), text);
  }
  return skill;
}

/** Runs a command, and counts how often each file below the test's folder was opened for reading. */
async function counted(who: PersonLine, ...args: string[]): Promise<Map<string, number>> {
  const log = join(folder, 'reads.log');
  rmSync(log, { force: true });
  const ended: Ended = await who.run(args, {
    NODE_OPTIONS: `--import=${HOOK}`,
    COUNT_READS_BELOW: folder,
    COUNT_READS_IN: log,
  });
  expect({ args, ...ended }).toMatchObject({ code: 0 });
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  return new Map([...Map.groupBy(lines, (line) => line)].map(([path, all]) => [path, all.length]));
}

function readsOf(counts: Map<string, number>, part: RegExp): number[] {
  return [...counts].flatMap(([path, count]) => (part.test(path) ? [count] : []));
}

describe.each(Object.entries(SIZES))('of a %s skill', (name, count) => {
  test('every file is read once by add, and once by install --frozen', async () => {
    const skill = writeMany(name, count);
    const who = new PersonLine(join(folder, `person-${name}`));
    const policy = who.write('policy.yaml', JSON.stringify({ sources: [{ match: '*' }] }));
    const adding = await counted(who, 'add', `file:${skill}`, '--yes', '--policy', policy);
    expect(readsOf(adding, /\/authors\//)).toEqual(Array.from({ length: count }, () => 1));
    expect(readsOf(adding, /\/fetched\//)).toEqual(Array.from({ length: count }, () => 1));
    const installing = await counted(who, 'install', '--frozen');
    expect(readsOf(installing, /\/fetched\//)).toEqual(Array.from({ length: count }, () => 1));
    expect(readsOf(installing, /\/(?:authors|store)\//)).toEqual([]);
    // Of the copy that cells see, the texts with commands are read, and by another part.
    for (const counts of [adding, installing]) expect(Math.max(...counts.values())).toBe(1);
  });
});
