/**
 * Writes of the real service fail: in the whole home, in the journal, in the database of receipts. Calls are refused with a
 * typed error or have a receipt, and the service recovers after the fault without a restart.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/inside.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { FaultyFiles, type Fault } from './faulty-files.ts';
import { ChaosService, codeOf, type Answer } from './service.ts';

const DRAIN_MS = 5000;
/** Shutting down and ending cells takes time in addition to the drain; a waiting call has 100 seconds. */
const GRACE_MS = 30_000;
/** More calls than the tenant has slots, to detect a slot that is not released. */
const MANY = 20;
const SKILL = 'test/waits';
const PATIENCE = { interval: 50 };

/** The failing files as patterns below the home, and the codes that calls may end with during the fault. */
const PARTS = {
  home: { patterns: ['/*'], codes: ['skill_unavailable'], under: 'internal' },
  journal: { patterns: ['/*.journal'], codes: ['skill_unavailable'], under: 'ok' },
  // The first calls are safe in the journal.
  database: { patterns: ['/audit.db', '/audit.db-*'], codes: ['ok', 'skill_unavailable'], under: 'ok' },
} as const;
type Part = keyof typeof PARTS;

const ROWS = (['EIO', 'EROFS'] as const).flatMap((fault) =>
  (Object.keys(PARTS) as Part[]).map((part): [Fault, Part] => [fault, part]),
);

let folder: string;
let workspace: string;
let files: FaultyFiles;
let service: ChaosService;
const answers: Answer[] = [];

beforeAll(async () => {
  folder = openFolder();
  workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  chmodSync(workspace, 0o755);
  files = new FaultyFiles(folder);
  writeSkill(folder, {
    id: SKILL,
    manifest: {
      execution: ['subprocess'],
      limits: { timeout: '100s' },
      capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] },
    },
    source: `
      import os, time
      def execute(params):
          while params.get("waits") and os.path.exists("/workspace/hold"):
              time.sleep(0.02)
          return params
    `,
  });
  service = await start();
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  removeFolder(folder);
});

afterEach(() => {
  // A failed test must not affect the next one.
  files.end();
  letCallsGo();
});

function start(): Promise<ChaosService> {
  const args = ['--drain', `${DRAIN_MS}ms`, '--workspace', workspace];
  return ChaosService.start({ folder, args, ownEnv: files.env });
}

/** Makes every call of this suite, so that receipts can be counted. */
async function call(params: unknown = {}): Promise<Answer> {
  const answer = await service.call(SKILL, params);
  answers.push(answer);
  return answer;
}

const holdCalls = (): void => writeFileSync(join(workspace, 'hold'), '');
const letCallsGo = (): void => rmSync(join(workspace, 'hold'), { force: true });

function beginFault(fault: Fault, part: Part): void {
  files.begin(
    fault,
    PARTS[part].patterns.map((pattern) => `${service.home}${pattern}`),
  );
}

/** Every accepted call has exactly one receipt, which matches its answer; no other call has one. */
async function expectOneReceiptEach(): Promise<void> {
  const accepted = answers.filter((answer) => codeOf(answer) !== 'skill_unavailable');
  const codes = accepted.map((one): [string, string] => [String(one.body['call_id']), codeOf(one)]);
  expect(new Set(codes.map(([id]) => id)).size).toBe(codes.length);
  expect(await service.receipts()).toEqual(new Map(codes));
}

/** As many parallel calls as the tenant has slots, each in its cell. */
async function fillEverySlot(): Promise<void> {
  holdCalls();
  const calls = Array.from({ length: 4 }, () => call({ waits: true }));
  await service.running(4);
  letCallsGo();
  expect((await Promise.all(calls)).map(codeOf)).toEqual(['ok', 'ok', 'ok', 'ok']);
}

function verifyByCommand(): void {
  const env = { ...process.env, SKILLCELL_HOME: service.home };
  // Throws unless the verification succeeds.
  execFileSync(process.execPath, [join(packageRoot(), 'bin/skillcell.js'), 'audit', 'verify'], {
    cwd: folder,
    env,
    stdio: 'ignore',
  });
}

describe('serve whose writes fail', () => {
  test.each(ROWS)('with %s in its %s refuses calls or keeps receipts, and recovers', async (fault, part) => {
    const { codes, under } = PARTS[part];
    expect(codeOf(await call()), 'before the fault').toBe('ok');
    holdCalls();
    const running = call({ waits: true });
    await service.running(1);

    beginFault(fault, part);
    for (let calls = 0; calls < MANY; calls++) expect(codes).toContain(codeOf(await call({ calls })));
    expect(codeOf(await call()), 'at last').toBe('skill_unavailable');
    expect(await service.ask('/readyz')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', hindrances: [{ part: 'receipts' }] },
    });
    expect((await service.ask('/healthz')).status, 'it is alive').toBe(200);
    letCallsGo();
    expect(codeOf(await running), 'the call that was accepted before').toBe(under);
    expect((await service.ask('/readyz')).status).toBe(503);
    expect(files.hits.length, 'the fault was felt').toBeGreaterThan(MANY / 2);
    files.end();

    expect(codeOf(await call()), 'the next good call').toBe('ok');
    expect((await service.ask('/readyz')).status).toBe(200);
    expect((await service.ask('/v1/receipts/verify')).body).toMatchObject({ ok: true });
    await expectOneReceiptEach();
    await fillEverySlot();
    await expect.poll(() => service.text('/metrics'), PATIENCE).toMatch(/^skillcell_calls_running 0$/m);
  });

  test.each(Object.keys(PARTS) as Part[])(
    'in its %s ends within the drain time on request, and the next one has every receipt',
    async (part) => {
      holdCalls();
      // It runs much longer than the drain time; whether its caller gets an answer depends on the fault.
      const running = service.call(SKILL, { waits: true }).catch(() => undefined);
      const [id = ''] = await service.running(1);
      beginFault('EIO', part);
      await call();
      const began = performance.now();
      expect(await service.stop()).toBe(0);
      expect(performance.now() - began).toBeLessThan(DRAIN_MS + GRACE_MS);
      const answer = await running;
      files.end();
      letCallsGo();
      service = await start();
      const receipts = await service.receipts();
      expect(receipts.has(id), 'the call that was accepted has one').toBe(true);
      if (answer) expect(receipts.get(id)).toBe(codeOf(answer));
      answers.push({ status: 0, body: { call_id: id, ok: false, error: { code: receipts.get(id) } } });
      expect((await service.ask('/v1/receipts/verify')).body).toMatchObject({ ok: true });
      expect(codeOf(await call()), 'the next good call').toBe('ok');
      await expectOneReceiptEach();
    },
  );

  test('leaves an intact log', async () => {
    expect(await service.stop()).toBe(0);
    verifyByCommand();
  });
});
