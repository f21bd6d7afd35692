/**
 * The commands of docs/distribution.md, typed in their order by one person, with two real registries.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePolicy } from '../../../src/index.ts';
import { removeTreeSync } from '../../../src/load/remove-tree.ts';
import { blocksOf, markOf, readDocument } from '../../readme/documents.ts';
import { PersonLine } from '../person-line.ts';
import { startRegistry, type Registry } from '../registries.ts';

const DOCUMENT = readDocument('docs/distribution.md');
/** Blocks with commands, by their number. */
const STEPS = blocksOf(DOCUMENT)
  .flatMap((block) => {
    const at = markOf(block, 'try');
    return at === undefined ? [] : [{ at: Number(at), lines: block.text.trimEnd().split('\n') }];
  })
  .toSorted((one, other) => one.at - other.at);
/** What must be printed by the commands of a step. */
const PRINTED: Readonly<Record<number, string[]>> = {
  1: ['Signed ', 'Published text/my_skill 0.1.0', 'catalog    oci://'],
  2: ['text/my_skill 0.1.0', 'asks for  nothing'],
  3: ['It cannot access your files, the network or your variables.', 'is pinned now in skills.lock.json'],
  4: ['1 skills are as pinned, 1 of them were here already.'],
  5: [
    'Everything is at its newest version.',
    'text/my_skill 0.1.0 is the newest.',
    'text/my_skill 0.1.0 is signed by us.',
    'Removed text/my_skill 0.1.0',
  ],
  6: ['Copied oci://', '(3 new documents)', 'text/my_skill 0.1.0', 'is pinned now in skills.lock.json'],
};

let room = '';
let registries: Registry[] = [];
let who: PersonLine;

beforeAll(async () => {
  // Cells of a root host are not root, and have to reach the home.
  room = mkdtempSync(join(tmpdir(), 'skillcell-document-'));
  chmodSync(room, 0o711);
  registries = [
    await startRegistry('docker-registry', join(room, 'first')),
    await startRegistry('distribution', join(room, 'second')),
  ];
  mkdirSync(join(room, 'person'), { mode: 0o711 });
  who = new PersonLine(join(room, 'person'));
  await who.ok('init', 'text/my_skill', '--lang', 'python', '--dir', './my_skill');
}, 120_000);

afterAll(async () => {
  for (const registry of registries) await registry.stop();
  removeTreeSync(room);
});

function wordsOf(line: string): string[] {
  const [first, second] = registries.map(({ host }) => host);
  const here = line.replaceAll('localhost:5000', first ?? '').replaceAll('localhost:5001', second ?? '');
  const [npx, name, ...words] = here.split(' ');
  expect([npx, name]).toEqual(['npx', 'skillcell']);
  return words;
}

/** The key that step 1 printed, as the document says. */
function writePolicy(printed: string): void {
  const key = /key: "(ed25519:[^"]+)"/.exec(printed)?.[1];
  who.write('project/policy.yaml', JSON.stringify({ publishers: [{ name: 'us', key }] }));
}

test('has steps from the first to the last', () => {
  expect(STEPS.map(({ at }) => at)).toEqual(Object.keys(PRINTED).map(Number));
});

test.each(STEPS)('step $at works as written', async ({ at, lines }) => {
  let printed = '';
  for (const line of lines) {
    const words = wordsOf(line);
    if (words[0] === 'add') {
      const ended = await who.atTerminal('y\n', ...words);
      expect(ended).toMatchObject({ code: 0 });
      printed += ended.stdout;
    } else printed += await who.ok(...words);
    if (printed.includes('For policies:')) writePolicy(printed);
  }
  if (at === 5) {
    // Nothing newer is a note.
    const { stderr } = await who.run(['outdated']);
    printed += stderr;
  }
  for (const text of PRINTED[at] ?? []) expect(printed).toContain(text);
});

test('the examples of policies are valid', () => {
  const { publicKey } = { publicKey: `ed25519:${Buffer.alloc(32, 7).toString('base64')}` };
  const policies = blocksOf(DOCUMENT).filter(
    ({ language, text }) => language === 'yaml' && text.startsWith('publishers:'),
  );
  expect(policies.length).toBe(2);
  const [, simple] = policies;
  const text = simple?.text.replaceAll(/ed25519:[\w.]+/g, publicKey) ?? '';
  expect(parsePolicy(text, { file: 'policy.yaml' }).sources).toHaveLength(1);
  expect(readFileSync(join(who.project, 'policy.yaml'), 'utf8')).toContain('ed25519:');
});
