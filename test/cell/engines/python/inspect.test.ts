/**
 * Inspection of source on a busy machine.
 */
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { CellReport } from '../../../../src/cell/contract.ts';
import { inspectPython } from '../../../../src/cell/engines/python/inspect.ts';
import { cellReport } from '../../../../src/cell/protocol/report.ts';
import { NOTHING_INSPECTED } from '../../../../src/load/inspection.ts';
import { Offload } from '../../../../src/offload/offload.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';

const folder = openFolder();
const offload = new Offload();
afterAll(async () => {
  await offload.close();
  removeFolder(folder);
});

const KILLED = cellReport({ start: 'cold', started: true, killReason: 'timeout' });
const ANSWERED = cellReport({
  start: 'cold',
  started: true,
  reply: { kind: 'result', value: { findings: NOTHING_INSPECTED, bytecode: {} }, warnings: [] },
});
const GAVE_UP = cellReport({ start: 'cold', started: true, killReason: 'cpu' });

function inspect(key: string, report: CellReport): ReturnType<typeof inspectPython> {
  const inspector = { key: async () => key, run: async () => report };
  const home = join(folder, 'home');
  return inspectPython({ home, inspector: async () => inspector, offload }, folder, { 'skill.py': '' });
}

test('a parser that a deadline ended says nothing about the source, and the next one is asked', async () => {
  await expect(inspect('slow', KILLED)).rejects.toMatchObject({
    code: 'resource_exceeded',
    detail: { limit: 'busy' },
  });
  expect(await inspect('slow', ANSWERED)).toEqual(NOTHING_INSPECTED);
});

test('source that takes too much CPU time to parse is not parsed again', async () => {
  const unparsed = [{ value: expect.stringContaining('the parser gave up') as string, at: 'bundle' }];
  expect(await inspect('hostile', GAVE_UP)).toMatchObject({ unparsed });
  expect(await inspect('hostile', ANSWERED)).toMatchObject({ unparsed });
});
