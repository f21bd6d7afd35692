/**
 * Faults of the host itself, in the middle of calls of the real service: an exception from a timer, from an event handler and
 * a rejection that nobody awaits. They end the call that they belong to, and nothing else.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/index.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { ChaosService, codeOf } from './service.ts';

/** Words that a skill says and a seam listens for. */
const SAYS = { frame: 'break-the-frame', log: 'break-the-log' };

/**
 * Loaded before the service: an SDK of telemetry that fails later, as a part of the call; streams that fail when they carry a
 * certain word; and a fault that belongs to nobody.
 */
const SEAMS = `
import { EventEmitter } from 'node:events';
import { trace } from '${join(packageRoot(), 'node_modules/@opentelemetry/api/build/src/index.js')}';

const later = { timer: (act) => setTimeout(act, 50), immediate: (act) => setImmediate(act), tick: (act) => process.nextTick(act) };
const startSpan = (name) => {
  const way = /breaks-by-(\\w+)/.exec(name)?.[1];
  if (way === 'rejection') Promise.reject(new Error('seam: rejection'));
  else later[way]?.(() => { throw new Error('seam: ' + way); });
  return trace.wrapSpanContext({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 });
};
const tracer = { startSpan };
trace.setGlobalTracerProvider({ getTracer: () => tracer });

const emit = EventEmitter.prototype.emit;
EventEmitter.prototype.emit = function (name, ...args) {
  const text = name === 'data' && Buffer.isBuffer(args[0]) ? args[0].toString('latin1') : '';
  // Only what comes from cells: requests to the service carry no such word.
  if (text.includes('${SAYS.frame}') || text.includes('${SAYS.log}')) throw new Error('seam: stream');
  return emit.call(this, name, ...args);
};
process.on('SIGUSR2', () => setTimeout(() => { throw new Error('seam: nobody'); }, 1));
`;

const WAYS = ['timer', 'immediate', 'tick', 'rejection'];
let folder: string;
let service: ChaosService;

beforeAll(async () => {
  folder = openFolder();
  const source = `
    import sys, time
    def execute(params):
        if params.get("prints"):
            print("-".join(["break", "the", "log"]), file=sys.stderr, flush=True)
        time.sleep(params.get("seconds", 0))
        return "-".join(["break", "the", "frame"]) if params.get("returns") else "fine"
  `;
  for (const name of ['fine', ...WAYS.map((way) => `breaks-by-${way}`)])
    writeSkill(folder, {
      id: `test/${name}`,
      manifest: { execution: ['subprocess'], limits: { timeout: '120s' } },
      source,
    });
  const seams = join(folder, 'seams.mjs');
  writeFileSync(seams, SEAMS);
  service = await ChaosService.start({ folder, env: { NODE_OPTIONS: `--import=${seams}` } });
}, 240_000);

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  removeFolder(folder);
});

async function faults(owner: string): Promise<number> {
  const text = await service.text('/metrics');
  return Number(new RegExp(`skillcell_faults_total\\{owner="${owner}"\\} (\\d+)`).exec(text)?.[1]);
}

describe('a fault that nobody caught', { timeout: 240_000 }, () => {
  test.each(WAYS)(
    'from a %s ends its call with a receipt, long before the deadline, and no other',
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

  test.each(['returns', 'prints'])('where a cell is read ends the call that it serves (%s)', async (act) => {
    // The cell was started ahead, in the course of another call.
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
  });

  test('and that belongs to no call is counted, and ends none', async () => {
    const call = service.call('test/fine', { seconds: 2 });
    await service.running(1);
    const before = await faults('none');
    service.child.kill('SIGUSR2');
    await expect.poll(() => faults('none'), { timeout: 30_000 }).toBe(before + 1);
    expect(codeOf(await call)).toBe('ok');
  });

  test('keeps no place: the service takes as many calls as before, and stops when told', async () => {
    const calls = Array.from({ length: 12 }, () => service.call('test/fine'));
    expect((await Promise.all(calls)).map(codeOf)).toEqual(Array<string>(12).fill('ok'));
    expect(await service.text('/metrics')).toMatch(/^skillcell_calls_running 0$/m);
    expect(await service.stop()).toBe(0);
  });
});
