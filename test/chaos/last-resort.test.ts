/**
 * Faults of the host in the middle of calls of the real service: exceptions from a timer and an event handler, and a promise
 * rejection that is not awaited. They end only the call that they belong to.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { seamsIn, SOURCE, WAYS } from './seams.ts';
import { ChaosService, codeOf } from './service.ts';

let folder: string;
let service: ChaosService;

beforeAll(async () => {
  folder = openFolder();
  for (const name of ['fine', ...WAYS.map((way) => `breaks-by-${way}`)])
    writeSkill(folder, {
      id: `test/${name}`,
      manifest: { execution: ['subprocess'], limits: { timeout: '120s' } },
      source: SOURCE,
    });
  service = await ChaosService.start({ folder, env: seamsIn(folder) });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  removeFolder(folder);
});

async function faults(owner: string): Promise<number> {
  const text = await service.text('/metrics');
  return Number(new RegExp(`skillcell_faults_total\\{owner="${owner}"\\} (\\d+)`).exec(text)?.[1]);
}

describe('an uncaught fault', () => {
  test.each(WAYS)(
    'from a %s ends only its own call, with a receipt, long before the deadline',
    async (way) => {
      const other = service.call('test/fine', { seconds: 2 });
      await service.running(1);
      const before = await faults('call');
      const broken = await service.call(`test/breaks-by-${way}`, { seconds: 100 });
      expect(codeOf(broken)).toBe('internal');
      expect(JSON.stringify(broken.body['error'])).toContain(`seam: ${way}`);
      expect((await service.receipts()).get(String(broken.body['call_id']))).toBe('internal');
      expect(await faults('call')).toBe(before + 1);
      expect(codeOf(await other), 'the call beside it').toBe('ok');
      await service.expectWell('test/fine');
    },
  );

  test.each(['returns', 'prints'])(
    'while reading from a cell ends the call that the cell serves (%s)',
    async (act) => {
      // The cell was started ahead, during another call.
      for (let calls = 0; calls < 2; calls++) expect(codeOf(await service.call('test/fine'))).toBe('ok');
      const other = service.call('test/fine', { seconds: 2 });
      await service.running(1);
      const before = await faults('cell');
      const broken = await service.call('test/fine', { [act]: true, seconds: act === 'prints' ? 100 : 0 });
      expect(codeOf(broken)).toBe('internal');
      expect((await service.receipts()).get(String(broken.body['call_id']))).toBe('internal');
      expect(await faults('cell')).toBe(before + 1);
      expect(codeOf(await other), 'the call beside it').toBe('ok');
      await service.expectWell('test/fine');
    },
  );

  test('that belongs to no call is counted and ends none', async () => {
    const call = service.call('test/fine', { seconds: 2 });
    await service.running(1);
    const before = await faults('none');
    service.child.kill('SIGUSR2');
    await expect.poll(() => faults('none')).toBe(before + 1);
    expect(codeOf(await call)).toBe('ok');
  });

  test('frees its slot: the service takes as many calls as before and stops on request', async () => {
    const calls = Array.from({ length: 12 }, () => service.call('test/fine'));
    expect((await Promise.all(calls)).map(codeOf)).toEqual(Array<string>(12).fill('ok'));
    expect(await service.text('/metrics')).toMatch(/^skillcell_calls_running 0$/m);
    expect(await service.stop()).toBe(0);
  });
});
