/**
 * Other sandboxes under load: a peer is measured only if every call returns the result of the job.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PEERS } from '../../bench/peer-process.ts';
import { formatThroughputs, loadPeer, withEchoCommand } from '../../bench/peer-throughput.ts';
import { loadModule } from '../../bench/wasm-peers.ts';

const folder = mkdtempSync(join(tmpdir(), 'skillcell-loaded-peer-'));
afterAll(() => rmSync(folder, { recursive: true }));

const LOAD = { callers: 3, seconds: 0.05 };

/** A peer whose call has this body. */
function peer(name: string, body: string): string {
  writeFileSync(
    join(folder, `${name}.js`),
    `let calls = 0;\nexport const start = () => ({ call: () => ${body} });`,
  );
  return relative(join(PEERS, 'wasm'), join(folder, name));
}

function loaded(module: string, expected: unknown): ReturnType<typeof loadPeer> {
  return loadPeer({ name: 'some peer', note: 'one process' }, expected, () => loadModule(module, LOAD));
}

test('a peer with the right results is measured', async () => {
  const { measured, leftOut } = await loaded(peer('right', `'{"words":3}'`), { words: 3 });
  expect(leftOut).toEqual([]);
  expect(measured).toMatchObject([{ name: 'some peer', throughput: { callers: 3, failed: 0 } }]);
  expect(measured[0]?.throughput.callsPerSecond).toBeGreaterThan(0);
  const text = formatThroughputs([], measured);
  expect(text).toMatch(/^some peer +3 +\d+ /m);
  expect(text).toContain('some peer: one process.');
});

test('a peer with another result than ours is left out', async () => {
  const found = await loaded(peer('wrong', `'{"words":2}'`), { words: 3 });
  expect(found).toEqual({
    measured: [],
    leftOut: ['some peer under load: "some peer" returned {"words":2} instead of {"words":3}'],
  });
});

test('a peer whose later calls return something else is left out', async () => {
  const found = await loaded(peer('lazy', `JSON.stringify({ words: calls++ < 50 ? 3 : 0 })`), { words: 3 });
  expect(found.measured).toEqual([]);
  expect(found.leftOut).toEqual([
    expect.stringMatching(/^some peer under load: "A call of many" returned .*0.* instead of .*3/),
  ]);
});

test('the result that Python peers must give is that of the skill without a sandbox', async () => {
  const result = await withEchoCommand(async (_command, expected) => expected);
  expect(result).toMatchObject({ words: expect.any(Number) });
});
