/**
 * SIGKILL at one stage at a time, in the real service. A stage is identified by a file that the skill keeps open there, never
 * by timing; the process that has it open is the target.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/inside.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import {
  commandOf,
  descendants,
  holders,
  parentOf,
  programOf,
  readsFrom,
  signalBelow,
  waitsForFrame,
} from './processes.ts';
import { BWRAP, replaceBwrap, type ReplacedBwrap } from './replaced-bwrap.ts';
import { ChaosService, codeOf, type Answer } from './service.ts';

/** Concurrent calls of the token's tenant: half of all slots. */
const PLACES = Math.floor(Math.max(4, availableParallelism() * 4) / 2);
const PATIENCE = { interval: 50 };
/** `own` starts each cell separately, because its skill may start processes; `forks` has a zygote. */
const [OWN, FORKS, WASM, REACHES] = ['test/own', 'test/forks', 'test/wasm', 'test/reaches'] as const;

const SOURCE = `
  import os, time

  def stay(stage):
      # Nobody asked for a stop here, or it is over.
      if not os.path.exists("/workspace/hold-" + stage):
          return
      with open("/workspace/at-" + stage, "a"):
          while os.path.exists("/workspace/hold-" + stage):
              time.sleep(0.02)

  def stay_after_reply():
      import sys, threading
      main = threading.main_thread().ident
      def rest():
          while sys._current_frames()[main].f_code.co_name != "finish":
              time.sleep(0.01)
          stay("rest")
      threading.Thread(target=rest).start()

  stay("body")

  def execute(params):
      stay("call")
      if params.get("leaves"):
          stay_after_reply()
      return reach(params)

  def reach(params):
      return "fine"
`;

const REACH = `
  def reach(params):
      import urllib.request
      return urllib.request.urlopen(params["url"], timeout=60).read().decode()
`;

let folder: string;
let workspace: string;
let bwrap: ReplacedBwrap;
let server: Server;
let url: string;
let service: ChaosService;
const answers: Answer[] = [];

beforeAll(async () => {
  folder = openFolder();
  workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  // If the host runs as root, its cells have another user.
  chmodSync(workspace, 0o777);
  server = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}/`;
  const filesystem = [{ path: '${workspace}', access: 'read-write' }];
  const network = [{ host: '127.0.0.1', port, scheme: 'http' }];
  const limits = { timeout: '200s' };
  const manifests = {
    [OWN]: { execution: ['subprocess'], limits: { ...limits, processes: 4 }, capabilities: { filesystem } },
    [FORKS]: { execution: ['subprocess'], limits, capabilities: { filesystem } },
    [WASM]: { execution: ['wasm'], limits, capabilities: { filesystem } },
    [REACHES]: { execution: ['subprocess'], limits, capabilities: { filesystem, network } },
  };
  for (const [id, manifest] of Object.entries(manifests))
    writeSkill(folder, { id, manifest, source: id === REACHES ? SOURCE + REACH : SOURCE });
  const policy = join(folder, 'policy.yaml');
  writeFileSync(policy, 'network: { allow_private: ["127.0.0.1"] }\n');
  const args = ['--drain', '5s', '--workspace', workspace, '--policy', policy];
  // It can be paused before it starts the program in the sandbox.
  bwrap = replaceBwrap(folder, 'held-bwrap');
  service = await ChaosService.start({ folder, args, programs: { [BWRAP]: bwrap.program } });
  // Makes the service inspect every skill now, because an inspection would start cells during the tests.
  for (const skill of [OWN, FORKS, WASM]) expect(codeOf(await call(skill)), skill).toBe('ok');
  expect(codeOf(await call(REACHES, { url })), REACHES).toBe('ok');
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  server.close();
  removeFolder(folder);
});

/** Without the shell that waits for the end of the service. */
const below = (): number[] =>
  descendants(service.child.pid!).filter((pid) => !commandOf(pid).startsWith('/bin/sh '));
const kill = (pids: readonly number[]): void => signalBelow(service.child.pid!, pids, 'SIGKILL');
const marker = (stage: string): string => join(workspace, `at-${stage}`);

/** Makes every call of this suite, so that receipts can be counted. */
async function call(skill: string, params: unknown = {}): Promise<Answer> {
  const answer = await service.call(skill, params);
  answers.push(answer);
  return answer;
}

/** Skills that reach this stage stay there until the end of the block. */
function hold(stage: string): Disposable {
  const file = join(workspace, `hold-${stage}`);
  writeFileSync(file, '');
  return {
    [Symbol.dispose]: () => {
      rmSync(file);
      rmSync(marker(stage), { force: true });
    },
  };
}

/** The processes that have reached a stage. */
async function arrived(stage: string): Promise<number[]> {
  const there = (): number[] => holders(below(), marker(stage));
  await expect.poll(() => there().length, PATIENCE).toBeGreaterThan(0);
  return there();
}

const zygotes = (): number[] =>
  below().filter(
    (pid) => commandOf(pid).includes('/harness/zygote.py') && commandOf(parentOf(pid)).includes('bwrap'),
  );

/** Until the end of the block, sandboxes are created but nothing is started in them. */
function holdStarts(): Disposable {
  writeFileSync(bwrap.hold, '');
  return { [Symbol.dispose]: () => rmSync(bwrap.hold) };
}

/** Processes that bwrap has paused inside a new sandbox. */
const waitingForGate = (): number[] => cells().filter((pid) => readsFrom(pid, bwrap.gate));

/** The innermost process of each native cell that no zygote forked. */
const cells = (): number[] =>
  below().filter(
    (pid) =>
      descendants(pid).length === 0 && programOf(pid) !== 'node' && !commandOf(pid).includes('zygote.py'),
  );

/** Idle cells, whose harness waits for the host. */
const idleCells = (): number[] =>
  below().filter((pid) => commandOf(pid).endsWith('/harness/main.py ') && waitsForFrame(pid));

/** Brings the skill to a stage, kills the processes that `choose` selects, and returns the answer. */
async function killAt(
  stage: string,
  { skill, choose }: { skill: string; choose: (pid: number) => number },
): Promise<Answer> {
  using _ = hold(stage);
  const answer = call(skill);
  kill((await arrived(stage)).map(choose));
  // Hold it until then: a cell whose bwrap is dead lives a moment longer and must not answer.
  return await answer;
}

/** The next good call works, nothing is still running, and each call so far has exactly one receipt. */
async function expectRecovered(skill: string, params: unknown = {}): Promise<void> {
  expect(codeOf(await call(skill, params)), 'the next good call').toBe('ok');
  expect((await service.ask('/readyz')).status, 'readyz').toBe(200);
  expect((await service.ask('/v1/receipts/verify')).body, 'the log').toMatchObject({ ok: true });
  await expect.poll(() => service.text('/metrics'), PATIENCE).toMatch(/^skillcell_calls_running 0$/m);
  const codes = answers.map((one): [string, string] => [String(one.body['call_id']), codeOf(one)]);
  expect(await service.receipts()).toEqual(new Map(codes));
  expect(new Set(codes.map(([id]) => id)).size).toBe(answers.length);
}

/** Runs as many parallel calls as there are slots, and returns how each was started. */
async function fillEverySlot(skill: string): Promise<unknown[]> {
  let calls: Promise<Answer>[];
  {
    using _ = hold('call');
    calls = Array.from({ length: PLACES }, () => call(skill));
    await expect.poll(() => holders(below(), marker('call')).length, PATIENCE).toBe(PLACES);
  }
  const done = await Promise.all(calls);
  expect(done.map(codeOf)).toEqual(Array<string>(PLACES).fill('ok'));
  return done.map(({ body }) => (body['execution'] as { start: string }).start);
}

/** Kills all idle cells once they are ready, so that the next call starts a new one. */
async function emptyPool(): Promise<void> {
  const starting = (): number[] => cells().filter((pid) => !waitsForFrame(pid));
  await expect.poll(() => [idleCells().length > 0, starting()], PATIENCE).toEqual([true, []]);
  kill(below());
  await expect.poll(below, PATIENCE).toEqual([]);
}

/** The zygote that serves bursts of calls; the first burst starts it. */
async function zygoteThatForks(): Promise<number> {
  let starts: unknown[] = [];
  for (let bursts = 0; bursts < 10 && !starts.includes('zygote'); bursts++)
    starts = await fillEverySlot(FORKS);
  expect(starts).toContain('zygote');
  const [zygote = 0] = zygotes();
  return zygote;
}

const itself = (pid: number): number => pid;
const KILLED = [
  ['its first process', itself, 'skill_error'],
  ['the bwrap around it', parentOf, 'internal'],
] as const;

describe('a native cell that is killed', () => {
  test.each(KILLED)('before it is ready, %s, fails its call', async (_name, choose) => {
    await emptyPool();
    let answer: Promise<Answer>;
    {
      using _ = holdStarts();
      answer = call(OWN);
      // bwrap waits before it starts Python, so the cell cannot get any further.
      await expect.poll(() => waitingForGate().length, PATIENCE).toBe(1);
    }
    const waiting = waitingForGate();
    expect(cells(), 'nothing else has been started').toEqual(waiting);
    kill(waiting.map(choose));
    expect(codeOf(await answer)).toBe('internal');
    await expectRecovered(OWN);
  });

  test.each(KILLED)('while the module loads, %s, fails its call', async (_name, choose, code) => {
    expect(codeOf(await killAt('body', { skill: OWN, choose }))).toBe(code);
    await expectRecovered(OWN);
  });

  test.each(KILLED)('during the call, %s, fails its call', async (_name, choose, code) => {
    expect(codeOf(await killAt('call', { skill: OWN, choose }))).toBe(code);
    await expectRecovered(OWN);
  });

  test.each(KILLED)('after the reply, %s, has already answered', async (_name, choose) => {
    using _ = hold('rest');
    let answer: Promise<Answer>;
    {
      using _ = hold('call');
      answer = call(OWN, { leaves: true });
      await arrived('call');
      // The host is paused and cannot end the cell after its reply.
      service.child.kill('SIGSTOP');
    }
    kill((await arrived('rest')).map(choose));
    service.child.kill('SIGCONT');
    expect(codeOf(await answer)).toBe('ok');
    await expectRecovered(OWN);
  });

  test.each(KILLED)('while idle, %s, fails no call', async (_name, choose) => {
    await expect.poll(() => idleCells().length, PATIENCE).toBeGreaterThan(0);
    const idle = idleCells();
    const around = new Set(idle.map(parentOf));
    kill(idle.map(choose));
    // Wait until the service has reaped it and knows.
    await expect.poll(() => below().filter((pid) => around.has(pid)), PATIENCE).toEqual([]);
    await expectRecovered(OWN);
  });
});

describe('a zygote that is killed', () => {
  test('between calls is replaced, and no call fails', async () => {
    const old = await zygoteThatForks();
    const around = parentOf(old);
    kill([old]);
    await expect.poll(() => below().includes(around), PATIENCE).toBe(false);
    expect(await zygoteThatForks()).not.toBe(old);
    await expectRecovered(FORKS);
  });

  test('during calls of its forks fails those and no other', async () => {
    const zygote = await zygoteThatForks();
    let calls: Promise<Answer>[];
    {
      using _ = hold('call');
      calls = Array.from({ length: PLACES }, () => call(FORKS));
      await expect.poll(() => holders(below(), marker('call')).length, PATIENCE).toBe(PLACES);
      const forks = holders(descendants(zygote), marker('call'));
      expect(forks.length).toBeGreaterThan(0);
      kill([zygote]);
      await expect.poll(() => holders(below(), marker('call')).length, PATIENCE).toBe(PLACES - forks.length);
    }
    for (const answer of await Promise.all(calls)) {
      const { start } = answer.body['execution'] as { start: string };
      expect(codeOf(answer), start).toBe(start === 'zygote' ? 'internal' : 'ok');
    }
    await expectRecovered(FORKS);
  });
});

describe('a warm component cell that is killed', () => {
  /** The host opens its files, so it is identified by its program; there is one skill of this kind. */
  const warm = (): number[] =>
    below().filter((pid) => programOf(pid) === 'node' && programOf(parentOf(pid)) === 'bwrap');

  test('between calls fails none', async () => {
    expect(codeOf(await call(WASM))).toBe('ok');
    const cell = warm();
    expect(cell.length).toBeGreaterThan(0);
    const around = new Set(cell.map(parentOf));
    kill(cell);
    await expect.poll(() => below().filter((pid) => around.has(pid)), PATIENCE).toEqual([]);
    await expectRecovered(WASM);
  });

  test('during a call fails that call', async () => {
    let answer: Promise<Answer>;
    {
      using _ = hold('call');
      answer = call(WASM);
      await expect.poll(() => existsSync(marker('call')), PATIENCE).toBe(true);
      expect(warm().length).toBeGreaterThan(0);
      kill(warm());
      expect(codeOf(await answer)).toBe('skill_error');
    }
    await expectRecovered(WASM);
  });
});

describe('a gateway whose folder is removed', () => {
  test('during a call fails at most that call, and not the next', async () => {
    expect(codeOf(await call(REACHES, { url }))).toBe('ok');
    let answer: Promise<Answer>;
    {
      using _ = hold('call');
      answer = call(REACHES, { url });
      const [cell] = await arrived('call');
      const mounted = /\/run\/([0-9a-f/]+) \/run\/gateway /.exec(
        readFileSync(`/proc/${cell}/mountinfo`, 'utf8'),
      );
      const gateway = join(service.home, 'run', mounted?.[1] ?? 'none');
      expect(existsSync(join(gateway, 'socket')), gateway).toBe(true);
      rmSync(gateway, { recursive: true });
    }
    expect(codeOf(await answer)).toBe('skill_error');
    await expectRecovered(REACHES, { url });
  });
});

describe('after all kills', () => {
  test('every slot is free, and the service stops on request with an intact log', async () => {
    await fillEverySlot(OWN);
    await expectRecovered(OWN);
    const left = below();
    expect(await service.stop()).toBe(0);
    await expect.poll(() => left.filter((pid) => existsSync(`/proc/${pid}`)), PATIENCE).toEqual([]);
    const env = { ...process.env, SKILLCELL_HOME: service.home };
    // Throws unless the verification succeeds.
    execFileSync(process.execPath, [join(packageRoot(), 'bin/skillcell.js'), 'audit', 'verify'], {
      cwd: folder,
      env,
      stdio: 'ignore',
    });
  });
});
