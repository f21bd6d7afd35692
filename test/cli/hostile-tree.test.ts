/**
 * `audit show --tree` and `program` show calls whose names and sources try to control the terminal, or to imitate our output.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openAuditLog } from '../../src/audit/log.ts';
import type { StoredReceipt } from '../../src/inside.ts';
import { exampleReceipt } from '../audit/example-receipt.ts';
import { openCommandLine } from './command.ts';
import { FORGED, HOSTILE, STEERS } from './hostile-words.ts';

const { folder, run, close } = openCommandLine();
afterAll(close);

/** Shows that the text was printed at all: its escape, as it must be shown. */
const ESCAPED = String.raw`\u009b31m`;
/** Nothing in a table of calls is wider than a name. */
const WIDEST_LINE = 400;

async function shown(...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(args, { cwd: folder });
  for (const text of [stdout, stderr]) {
    expect(STEERS.exec(text)?.[0]?.codePointAt(0)?.toString(16)).toBeUndefined();
    expect(FORGED.exec(text)?.[0]).toBeUndefined();
  }
  return stdout + stderr;
}

const receipts = async (...args: string[]): Promise<StoredReceipt[]> =>
  JSON.parse((await run(['audit', ...args, '--json'], { cwd: folder })).stdout) as StoredReceipt[];

test('a tree of calls with hostile and very long names is one short line for each call', async () => {
  const log = openAuditLog({ file: join(folder, 'home/audit.db') });
  const named = (name: string): { skill: { name: string; version: string; digest: string } } => ({
    skill: { name, version: HOSTILE, digest: HOSTILE },
  });
  const below = { parent: '1', root: '1', depth: 1 };
  log.append(exampleReceipt({ call_id: '2', ...below, ...named(`text/${HOSTILE}`) }));
  log.append(exampleReceipt({ call_id: '3', ...below, ...named(`text/${'x'.repeat(100_000)}`) }));
  log.append(exampleReceipt({ call_id: '4', ...below, ...named(HOSTILE.repeat(1000)) }));
  log.append(exampleReceipt({ call_id: '1', ...named('program/typescript') }));
  log.close();
  const tree = await shown('audit', 'show', '1', '--tree');
  const [heading = '', ...lines] = tree.trimEnd().split('\n');
  expect(heading).toMatch(/^CALL +SKILL/);
  expect(lines.map((line) => line[0])).toEqual(['1', '2', '3', '4']);
  expect(tree).toContain(ESCAPED);
  // An escape is six characters wide.
  for (const line of lines) expect(line.length).toBeLessThan(6 * WIDEST_LINE);
  await shown('audit', 'show', '1', '--tree', '--json');
  await shown('audit', 'show', '4');
  await shown('audit', 'list');
  const [, second] = await receipts('show', '1', '--tree');
  expect(second?.receipt.skill.name).toBe(`text/${HOSTILE}`);
});

test('a program whose source and calls are hostile leaves no control character in its output and its tree', async () => {
  const words = JSON.stringify(HOSTILE);
  const source = `// ${HOSTILE.replaceAll(/[\n\r\u2028]/g, ' ')}
    console.log(${words});
    const tried = [() => skills[${words}]({}), () => skills['text/' + ${words}]({}), () => functions[${words}]({}),
      () => skills['x'.repeat(100000)]({}), () => skills['text/' + 'x'.repeat(150)]({}), () => skills.evil.words({})];
    for (const act of tried) await act().catch((error) => console.log(error.message, error.fix));
    if (input.fails) throw new Error(${words});
    return { [${words}]: ${words} };`;
  writeFileSync(join(folder, 'hostile.ts'), source);
  for (const fails of [false, true]) {
    const input = JSON.stringify({ fails });
    const program = await shown('program', 'hostile.ts', '--skills', 'text/*', '--input', input);
    expect(program).toContain(ESCAPED);
    await shown('program', 'hostile.ts', '--skills', 'text/*', '--input', input, '--json');
  }
  const found = (await receipts('list')).filter(({ receipt }) => receipt.origin === 'generated');
  expect(found.length).toBeGreaterThanOrEqual(4);
  for (const { receipt } of found) {
    expect(receipt.denied.length).toBeGreaterThan(0);
    await shown('audit', 'show', receipt.call_id, '--tree');
    await shown('audit', 'show', receipt.call_id);
  }
});
