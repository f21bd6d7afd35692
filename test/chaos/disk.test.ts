/**
 * The real service runs out of disk space or descriptors: calls are refused before their skill runs, and accepted again
 * without a restart.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { ChaosService, codeOf, type Answer } from './service.ts';

let folder: string;

beforeAll(() => {
  folder = openFolder();
  writeSkill(folder, {
    id: 'test/echo',
    manifest: { execution: ['subprocess'] },
    source: `
      def execute(params):
          return params
    `,
  });
});

afterAll(() => removeFolder(folder));

/** Calls until one is refused; reserved room may be enough for some. */
async function untilRefused(service: ChaosService): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let calls = 0; calls < 60; calls++) {
    answers.push(await service.call('test/echo', { calls }));
    if (answers.at(-1)?.status === 503) break;
  }
  return answers;
}

describe('serve with its home on a full disk', () => {
  test('refuses calls with a clear error, reports it in /readyz, recovers when there is room, and stops on request', async () => {
    await using service = await ChaosService.start({ folder, disk: '96m', args: ['--drain', '5s'] });
    expect(await service.ask('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
    const good = await service.call('test/echo', { n: 1 });
    expect(good.body).toMatchObject({ ok: true, result: { n: 1 } });

    service.fill();
    const answers = await untilRefused(service);
    for (const answer of answers) expect(['ok', 'skill_unavailable']).toContain(codeOf(answer));
    expect(answers.at(-1)).toMatchObject({
      status: 503,
      body: { error: { code: 'skill_unavailable', fix: expect.stringContaining('Free space') as string } },
    });
    // More calls than the tenant has slots, to detect a slot that is not released.
    for (let calls = 0; calls < 20; calls++)
      expect((await service.call('test/echo')).status, `refused call ${calls}`).toBe(503);
    expect(await service.ask('/readyz')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', hindrances: [{ part: 'receipts' }] },
    });
    expect((await service.ask('/healthz')).status, 'it is alive').toBe(200);

    service.makeRoom();
    expect((await service.call('test/echo', { n: 2 })).body).toMatchObject({ ok: true, result: { n: 2 } });
    expect((await service.ask('/readyz')).status).toBe(200);
    const receipts = await service.receipts();
    const accepted = [good, ...answers].filter((answer) => codeOf(answer) === 'ok');
    expect([...receipts.values()]).toEqual(Array<string>(accepted.length + 1).fill('ok'));
    expect((await service.ask('/v1/receipts/verify')).body).toMatchObject({ ok: true });
    expect(await service.stop()).toBe(0);
  });

  test('starts, refuses calls, and recovers when there is room', async () => {
    await using service = await ChaosService.start({ folder, disk: '96m', startsFull: true });
    expect(await service.call('test/echo')).toMatchObject({ status: 503 });
    expect((await service.ask('/readyz')).status).toBe(503);
    service.makeRoom();
    expect(codeOf(await service.call('test/echo'))).toBe('ok');
    expect(await service.stop()).toBe(0);
  });
});

describe('serve without file descriptors', () => {
  test('fails calls with typed errors, writes one receipt for each accepted call, and recovers', async () => {
    await using service = await ChaosService.start({ folder });
    expect(codeOf(await service.call('test/echo'))).toBe('ok');
    const starved: (Answer | undefined)[] = [];
    // A few free ones first, so that a call fails in the middle, then none at all.
    for (const most of [service.openFiles() + 6, service.openFiles() + 2, 24]) {
      service.limitFiles(most);
      for (let calls = 0; calls < 5; calls++)
        starved.push(await service.call('test/echo', { calls }).catch(() => undefined));
    }
    const isFailure = (answer: Answer | undefined): boolean => !answer || codeOf(answer) !== 'ok';
    expect(starved.filter(isFailure).length, 'the limit is felt').toBeGreaterThan(0);

    service.limitFiles(1024);
    expect(codeOf(await service.call('test/echo'))).toBe('ok');
    expect((await service.ask('/readyz')).status).toBe(200);
    const receipts = await service.receipts();
    for (const answer of starved) {
      if (!answer || answer.status === 503) continue;
      const { call_id: id } = answer.body;
      // The listing of the registries is cached for a second; without it, no call is accepted.
      if (id === undefined) expect(JSON.stringify(answer.body)).toContain('Cannot look for skills');
      else expect(receipts.get(id as string)).toBe(codeOf(answer));
    }
    expect(await service.stop()).toBe(0);
  });
});
