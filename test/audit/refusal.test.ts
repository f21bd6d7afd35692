/** With a failing disk, calls are refused before they run, or have exactly one correct receipt. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAuditLog } from '../../src/audit/log.ts';
import { Dispatcher } from '../../src/inside.ts';
import { createRuntime, type Runtime } from '../../src/runtime.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { failingDisk, type FailingDisk } from './failing-files.ts';

let folder: string;
let disk: FailingDisk;
let runtime: Runtime;

const SKILL = 'text/word_stats';
const PARAMS = { text: 'To be' };

beforeEach(() => {
  folder = openFolder();
  disk = failingDisk();
  runtime = createRuntime({ home: join(folder, 'home'), audit: { files: disk } });
});

afterEach(async () => {
  await runtime.close();
  removeFolder(folder);
});

function codes(): string[] {
  return runtime.audit.list().map(({ receipt }) => receipt.code);
}

describe('a call whose receipt cannot be written', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'EIO'])(
    'is refused with a typed error before the skill runs, and works again without a restart (%s)',
    async (fault) => {
      disk.fault = fault;
      const events: string[] = [];
      const refused = await runtime.execute(SKILL, PARAMS, {
        reject: false,
        onEvent: ({ type }) => events.push(type),
      });
      expect(refused).toMatchObject({
        ok: false,
        error: { code: 'skill_unavailable', detail: { receipts: fault } },
        usage: { wall_ms: 0 },
      });
      expect(events, 'the call was never accepted').toEqual([]);
      disk.fault = undefined;
      expect((await runtime.execute(SKILL, PARAMS)).ok).toBe(true);
      expect(codes()).toEqual(['ok']);
    },
  );

  it('frees its slot, whatever was thrown', async () => {
    const dispatcher = new Dispatcher({ all: { concurrent: 1, queue: 5 } });
    disk.fault = 'ENOSPC';
    for (let index = 0; index < 4; index++) {
      const turn = dispatcher.enter({ tenant: 'a', skill: SKILL });
      await runtime.execute(SKILL, PARAMS, { reject: false, turn });
    }
    expect(dispatcher.load).toMatchObject({ running: 0, waiting: 0 });
    disk.fault = undefined;
    const turn = dispatcher.enter({ tenant: 'a', skill: SKILL });
    expect((await runtime.execute(SKILL, PARAMS, { reject: false, turn })).ok).toBe(true);
    await dispatcher.drain();
  });

  it('is not started if there is room for its start entry but not for its end entry', async () => {
    disk.room = 1024;
    const refused = await runtime.execute(SKILL, PARAMS, { reject: false });
    expect(refused).toMatchObject({ ok: false, error: { detail: { receipts: 'ENOSPC' } } });
  });
});

describe('a call that runs while the disk fills up', () => {
  it('gets the receipt that room was reserved for', async () => {
    await runtime.load(SKILL);
    const outcome = await runtime.execute(SKILL, PARAMS, {
      reject: false,
      onEvent: ({ type }) => {
        if (type === 'accepted') disk.room = 0;
      },
    });
    expect(outcome.ok).toBe(true);
    expect(codes()).toEqual(['ok']);
  });

  it('succeeds if the log accepts the receipt that the journal does not', async () => {
    const outcome = await runtime.execute(SKILL, PARAMS, {
      reject: false,
      onEvent: ({ type }) => {
        if (type === 'accepted') disk.fault = 'EIO';
      },
    });
    expect(outcome.ok).toBe(true);
    disk.fault = undefined;
    expect((await runtime.execute(SKILL, PARAMS)).ok).toBe(true);
    expect(codes()).toEqual(['ok', 'ok']);
  });
});

describe('closing a runtime', () => {
  it('leaves one receipt for each running call', async () => {
    const running = [1, 2, 3].map(() => runtime.execute(SKILL, PARAMS, { reject: false }));
    await runtime.close();
    const outcomes = await Promise.all(running);
    const log = openAuditLog({ file: join(folder, 'home/audit.db') });
    const receipts = log.list().map(({ receipt }) => `${receipt.call_id} ${receipt.code}`);
    log.close();
    const answers = outcomes.map((one) => `${one.call_id} ${one.ok ? 'ok' : one.error.code}`);
    expect(new Set(receipts)).toEqual(new Set(answers));
    expect(receipts).toHaveLength(3);
  });
});
