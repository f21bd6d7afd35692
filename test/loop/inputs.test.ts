/**
 * Every row of the table of inputs: a hostile example beside calls of a good skill. Asserts the cap, which thread did the work,
 * and that the good calls succeed. Reports how long the event loop was blocked.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_SCANNED } from '../../src/http/receipts.ts';
import { attachResult, JsonText } from '../../src/json-text.ts';
import type { Outcome, Success } from '../../src/index.ts';
import { parsePolicy } from '../../src/index.ts';
import { parseOverlay } from '../../src/load/overlay.ts';
import { Catalog } from '../../src/mcp/catalog.ts';
import { serveOverHttp } from '../../src/mcp/http/serve-http.ts';
import { toToolResult } from '../../src/mcp/result.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { MAX_QUEUED_TASKS, Offload } from '../../src/offload/offload.ts';
import { IMAGE_LIMITS } from '../../src/cell/images/limits.ts';
import { plainSchema } from '../../src/tools/schema/plain.ts';
import { treeOf } from '../cell/images/helpers.ts';
import { exampleReceipt } from '../audit/example-receipt.ts';
import { marketplaceRegistries } from '../../src/load/marketplaces.ts';
import { MARKETPLACE_FILE } from '../../src/vocabulary/agent-folders.ts';
import { tempTree, writeTree } from '../load/helpers.ts';
import { addSkill, openStage, type Stage } from '../http/stage.ts';
import { writeSkill, type SkillText } from '../write-skill.ts';
import { imageExamples, serverExamples, wheelExamples } from './fetched-inputs.ts';
import { stdioExample } from './stdio-input.ts';
import { tenantExamples } from './tenant-inputs.ts';
import { INPUT_NAMES, INPUTS, type InputName, type StrangersInput } from './inputs.ts';
import { writeAgentSkill } from '../write-agent-skill.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const FRAMES = `
  import os, struct
  def execute(params):
      size, fill = params["size"], params.get("fill", "x").encode()
      body = params["start"].encode() + fill * (size // len(fill)) + params.get("end", '"}').encode()
      data = struct.pack("<I", len(body)) + body
      for _ in range(params.get("times", 1)):
          left = memoryview(data)
          while left:
              left = left[os.write(3, left):]
      return "late"
`;
const ECHO = 'export const execute = (params) => params;';
const LARGE = { output: '16MB', timeout: '60s' };
const wasm = (manifest: Record<string, unknown>, files: Record<string, string> = {}): SkillText => ({
  files: { 'skill.js': ECHO, ...files },
  manifest: { execution: ['wasm'], ...manifest },
});
const manyOf = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join('');
const pattern = { text: { type: 'string', pattern: '^(a+)+$' } };
const BAD_TEXT = { text: `${'a'.repeat(60)}!` };
const wide = Object.fromEntries(
  Array.from({ length: 100 }, (_, n) => [`k${n}`, { type: 'string', maxLength: 1e9 }]),
);
const deep = Object.fromEntries(
  Array.from({ length: 1000 }, (_, n) => [`k${n}`, { type: 'string', minLength: 1 }]),
);

const SKILLS: Record<string, SkillText> = {
  // Examples may keep the machine busy for longer than the default timeout.
  good: wasm({ limits: { timeout: '240s' } }),
  frames: { source: FRAMES, manifest: { execution: ['subprocess'], limits: LARGE } },
  forger: {
    source: `
      import os
      def execute(params):
          body = b'{"t":"denied","capability":"env","declared":"","asked":"' + b"x" * 200_000 + b'"}'
          data = len(body).to_bytes(4, "little") + body
          while data:
              data = data[os.write(3, data):]
          return 1
    `,
    manifest: { execution: ['wasm'], limits: { timeout: '60s' } },
  },
  prints: {
    source: 'def execute(params):\n    print("x" * 8_000_000)\n    return 1',
    manifest: { execution: ['subprocess'], limits: LARGE },
  },
  outputs: wasm({ outputs: pattern }),
  params: wasm({ parameters: { type: 'object', properties: pattern } }),
  steps: wasm({ parameters: { type: 'object', properties: wide } }),
};

let stage: Stage;
/** Created ahead, because writing that many files would block this thread, which is also the server's. */
let manyNames: string;
const delays: string[] = [];

beforeAll(async () => {
  stage = await openStage({ skills: SKILLS });
  for (let n = 0; n < MAX_SCANNED + 100; n++)
    stage.runtime.audit.append(exampleReceipt({ call_id: `01J${n}`, started_at: new Date().toISOString() }));
  const names = Object.fromEntries(Array.from({ length: 2100 }, (_, n) => [`data/f${n}`, '']));
  manyNames = writeSkill(join(stage.folder, 'made'), { ...wasm({}, names), id: 'test/names' });
  await stage.execute('test/good');
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  console.log(`Longest turn of the event loop beside hostile input, in milliseconds:\n${delays.join('\n')}`);
});

const call = async (skill: string, params: unknown): Promise<Outcome> =>
  (await (await stage.execute(`test/${skill}`, params)).json()) as Outcome;
/** Serialized ahead, and its answer is not parsed, because client and server share this thread. */
const LARGE_BODY = JSON.stringify({
  params: Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${(n * 7919) % 60_000}`, n])),
});
const send = (skill: string, body: string): Promise<Response> =>
  fetch(`${stage.url}/v1/skills/test/${skill}/execute`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${stage.tokens['caller']}`, 'content-type': 'application/json' },
  });
const frames = (params: Record<string, unknown>): Promise<Outcome> => call('frames', params);
const DENIED = '{"t":"denied","capability":"env","declared":"","asked":"';
const overOutput = { ok: false, error: { code: 'resource_exceeded', detail: { limit: 'output' } } };
const failed = (code: string, words: string | RegExp): object => ({
  ok: false,
  error: { code, message: expect.stringMatching(words) as unknown },
});
/** On a busy machine, a hostile pattern can be stopped before it has used up its processor time. */
const TOO_SLOW = /takes too long|machine is too busy/;

/** Adds a bundle while the service runs, and returns the service's answer about it. */
async function shows(name: string, text: SkillText, words: string): Promise<void> {
  addSkill(stage.folder, name, text);
  await expectListed(name, words);
}

async function expectListed(name: string, words: string): Promise<void> {
  // The listing of the registries is cached for a second.
  await expect
    .poll(async () => (await stage.ask(`/v1/skills/test/${name}`, { as: 'reader' })).text())
    .toContain(words);
}

const EXAMPLES: Record<InputName, () => Promise<void>> = {
  'frames of a native cell, without replies': async () =>
    expect(await frames({ start: DENIED, size: 8 * MIB })).toMatchObject(overOutput),
  'all frames of a native call, without replies': async () =>
    expect(await frames({ start: DENIED, size: 15_000, times: 200 })).toMatchObject(
      failed('skill_error', 'bytes of frames'),
    ),
  'frames of a native call': async () =>
    expect(await frames({ start: DENIED, size: 1, times: 300 })).toMatchObject(
      failed('skill_error', 'more than 256 frames'),
    ),
  'frames of a Wasm cell': async () => expect(await call('forger', {})).toMatchObject(overOutput),
  'result of a call': async () =>
    expect(
      await frames({ start: '{"t":"result","value":[', fill: '{"a":1e1},', end: '0]}', size: 4 * MIB }),
    ).toMatchObject({ ok: true }),
  'error of a native call': async () =>
    expect(await frames({ start: '{"t":"error","type":"E","message":"', size: 8 * MIB })).toMatchObject(
      failed('skill_error', 'xxx'),
    ),
  'output of a command': async () => {
    const source = 'import sys\nsys.stdout.write("\\x00" * 700_000)\n';
    const skill = writeAgentSkill(stage.folder, { files: { 'scripts/a.py': source } });
    const outcome = await stage.runtime.exec(skill, ['python', 'scripts/a.py'], { reject: false });
    expect(outcome.ok).toBe(true);
    expect(stage.runtime.offloaded.done['settleOutput']).toBe(1);
  },
  'stored logs': async () => {
    const { logs } = await call('prints', {});
    expect(logs.length).toBeGreaterThan(INPUTS['stored logs'].cap - 1);
    expect(logs.length).toBeLessThan(INPUTS['stored logs'].cap + 100);
  },
  'schema of a skill': () =>
    shows('schema', wasm({ parameters: { type: 'object', properties: deep } }), 'k999'),
  'pattern of outputs': async () =>
    expect(await call('outputs', BAD_TEXT)).toMatchObject(failed('skill_error', TOO_SLOW)),
  'pattern of parameters': async () =>
    expect(await call('params', BAD_TEXT)).toMatchObject(failed('invalid_params', TOO_SLOW)),
  'steps of a check': async () =>
    expect(await call('steps', { k1: 'x'.repeat(30_000) })).toMatchObject({ ok: true }),
  'manifest.yaml': () =>
    shows(
      'manifest',
      { files: { 'skill.js': ECHO, 'manifest.yaml': manyOf(5000, (n) => `- ${n}\n`) } },
      'mapping of keys',
    ),
  'keys of a mapping': () =>
    shows(
      'keys',
      { files: { 'skill.js': ECHO, 'manifest.yaml': `{${manyOf(6000, (n) => `k${n.toString(36)},`)}}` } },
      'more than 5000 keys',
    ),
  'SKILL.md': () =>
    shows(
      'skill_md',
      wasm({}, { 'SKILL.md': `---\nname: x\ndescription: x\n---\n${'x\n'.repeat(100 * KIB)}` }),
      '"name":"test/skill_md"',
    ),
  'skill.lock': () => shows('lock', wasm({}, { 'skill.lock': `[${'1,'.repeat(MIB)}1]` }), 'skill.lock'),
  'files of a bundle': () =>
    shows('files', wasm({}, { 'data.txt': 'x'.repeat(16 * MIB) }), '"name":"test/files"'),
  'names in a bundle': () => {
    renameSync(manyNames, join(stage.folder, 'skills/test/names'));
    return expectListed('names', 'more than 2000 files');
  },
  'findings in source': () =>
    shows(
      'inspected',
      {
        source: `TEXT = "${'x'.repeat(60 * KIB)}"
def execute(params):
    return 1`,
        manifest: { execution: ['subprocess'] },
      },
      '"name":"test/inspected"',
    ),
  'commands in a bundle': () =>
    shows(
      'commands',
      wasm({}, { 'run.sh': 'curl x | sh; A=1 B=2 '.repeat(20_000) }),
      'The code names the program',
    ),
  'packages in a bundle': async () => {
    const dir = join(stage.folder, 'skills', 'packed');
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'SKILL.md'), '---\nname: packed\ndescription: Many lines.\n---\n');
    writeFileSync(join(dir, 'x.py'), `# /// script\n${'# dependencies = ["a",\n'.repeat(20_000)}# ///\n`);
    writeFileSync(join(dir, 'requirements.txt'), 'name[extra] >= 1 # \n'.repeat(20_000));
    const found = await stage.runtime.overlays.packages(await stage.runtime.load(dir));
    expect(found.needs.length).toBeLessThanOrEqual(256);
  },
  'overlay of a project': async () =>
    expect(() =>
      parseOverlay(`skill: x\nlimits: {${'a: 1, '.repeat(9000)}}\n`, { file: 'x.yaml', place: 'project' }),
    ).toThrow(),
  'policy of a project': async () =>
    expect(() => parsePolicy(`a: ${'x'.repeat(300 * KIB)}`, { file: 'p.yaml' })).toThrow('larger than'),
  'marketplace of plugins': async () => {
    const { cap } = INPUTS['marketplace of plugins'];
    const plugins = (count: number): string => `{"plugins":[${'{"source":"./"},'.repeat(count)}0]}`;
    const folder = tempTree({ [MARKETPLACE_FILE]: plugins(cap / 16 - 8), 'skills/a/SKILL.md': 'x' });
    expect(marketplaceRegistries(folder)).toHaveLength(1);
    writeTree(folder, { [MARKETPLACE_FILE]: plugins(cap / 16 + 8) });
    expect(marketplaceRegistries(folder)).toEqual([]);
  },
  'body of an HTTP request': async () => {
    const { cap } = INPUTS['body of an HTTP request'];
    expect((await stage.execute('test/good', { text: 'x'.repeat(cap) })).status).toBe(413);
    expect((await send('good', LARGE_BODY)).status).toBe(200);
  },
  'parameters of a call': async () => {
    expect((await send('params', LARGE_BODY)).status).toBe(200);
  },
  'connections without a complete request': async () => {
    const { port } = new URL(stage.url);
    const sockets = Array.from({ length: 700 }, () =>
      connect(Number(port), '127.0.0.1')
        .on('error', () => undefined)
        .on('connect', function (this: ReturnType<typeof connect>) {
          this.write('GET / HTTP/1.1\r\n');
        }),
    );
    await expect.poll(() => stage.running.connections.evicted).toBeGreaterThan(100);
    expect(stage.running.connections.count).toBeLessThanOrEqual(
      INPUTS['connections without a complete request'].cap + 50,
    );
    for (const socket of sockets) socket.destroy();
  },
  'message of an MCP client over HTTP': async () => {
    await using skills = new SkillServer({ runtime: stage.runtime });
    await using server = await serveOverHttp(skills, { port: 0, onNote: () => undefined });
    const { cap } = INPUTS['message of an MCP client over HTTP'];
    const post = (body: string): Promise<Response> =>
      fetch(server.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${server.token}`,
        },
        body,
      });
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await post(JSON.stringify({ ...message, params: { x: 'x'.repeat(cap) } }))).status).toBe(413);
    expect((await post(JSON.stringify({ ...message, params: { x: 'x'.repeat(cap / 2) } }))).status).toBe(400);
  },
  'message of an MCP client over stdio': () => stdioExample(stage.runtime),
  'result over MCP': async () => {
    const bytes = Buffer.from(JSON.stringify('x'.repeat(INPUTS['result over MCP'].cap)));
    const outcome = await call('good', {});
    expect(toToolResult(attachResult(outcome as Success, new JsonText(bytes)))).toMatchObject({
      isError: true,
    });
  },
  'receipts that a query reads': async () => {
    // Every receipt must be read to be skipped.
    const asked = await stage.ask('/v1/receipts?limit=500&skill=test/nobody', { as: 'admin' });
    expect(await asked.json()).toEqual({ receipts: [], older: expect.any(String) as string });
    // Receipts of other tenants are not read; otherwise the duration would depend on them.
    const own = await stage.ask('/v1/receipts?limit=500', { as: 'other' });
    expect(await own.json()).toEqual({ receipts: [] });
    expect((await stage.ask('/v1/stats?minutes=10', { as: 'other' })).status).toBe(200);
    expect((await stage.ask('/v1/receipts?limit=501', { as: 'other' })).status).toBe(400);
  },
  'receipts that are verified': async () => {
    const verified = (await (await stage.ask('/v1/receipts/verify', { as: 'admin' })).json()) as {
      ok: boolean;
    };
    expect(verified.ok).toBe(true);
  },
  ...serverExamples,
  ...imageExamples,
  ...wheelExamples,
  ...tenantExamples,
  'entries of an image': async () => {
    const slashes = Array.from({ length: 3000 }, (_, n) => ({ name: `${'/'.repeat(90)}f${n}` }));
    expect((await treeOf([slashes])).root.children.size).toBe(3000);
    const few = { ...IMAGE_LIMITS, entries: 10 };
    await expect(treeOf([slashes], { limits: few })).rejects.toMatchObject({ code: 'manifest_invalid' });
  },
  'schema as a tool': async () => {
    const enumeration = Array.from({ length: 3000 }, (_, n) => `value ${n}`);
    const properties = Object.fromEntries(
      Array.from({ length: 800 }, (_, n) => [`k${n}`, { $ref: '#/$defs/e' }]),
    );
    const parameters = { type: 'object', properties, $defs: { e: { enum: enumeration } } };
    const plain = plainSchema(parameters, () => undefined);
    expect(JSON.stringify(plain).length).toBeLessThan(INPUTS['schema as a tool'].cap * 2);
  },
  'skills of an MCP server': async () => {
    addSkill(stage.folder, 'catalogued', wasm({}, { 'data.txt': 'x'.repeat(16 * MIB) }));
    const entries = await new Catalog({ runtime: stage.runtime, onProblem: () => undefined }).entries();
    expect([...entries.keys()]).toContain('test__catalogued');
  },
  'tasks in the queue of a thread': async () => {
    await using stack = new AsyncDisposableStack();
    const offload = stack.adopt(new Offload({ threads: 1 }), (one) => one.close());
    const task = {
      module: 'data:text/javascript,export const tasks = { nothing: () => 1 }',
      name: 'nothing',
    };
    const all = Array.from({ length: MAX_QUEUED_TASKS + 2 }, () =>
      offload.run(task, null, { deadlineMs: 20_000, owner: 'x' }),
    );
    const settled = await Promise.allSettled(all);
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  },
  'bytes in the queue of a thread': async () => {
    await using stack = new AsyncDisposableStack();
    const offload = stack.adopt(new Offload({ threads: 1 }), (one) => one.close());
    const bytes = new Uint8Array(INPUTS['bytes in the queue of a thread'].cap + 1);
    const task = { module: 'data:text/javascript,export const tasks = {}', name: 'nothing' };
    await expect(
      offload.run(task, null, { deadlineMs: 20_000, owner: 'x', transfer: [bytes] }),
    ).rejects.toMatchObject({ detail: { limit: 'busy' } });
  },
};

describe.each(INPUT_NAMES)('untrusted input "%s"', (name) => {
  const { task, cap, here }: StrangersInput = INPUTS[name];

  test('is capped, processed where the table says, and blocks no good skill', async () => {
    expect(cap).toBeGreaterThan(0);
    expect(here).toBeLessThanOrEqual(cap);
    const done = (): number => (task === undefined ? 0 : (stage.runtime.offloaded.done[task] ?? 0));
    const before = done();
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const over = new AbortController();
    const good = callGood(over.signal);
    // Awaited below; this handles an earlier failure.
    good.catch(() => undefined);
    await EXAMPLES[name]();
    over.abort();
    const calls = await good;
    delay.disable();
    delays.push(`${(delay.max / 1e6).toFixed(0).padStart(6)}  ${name}`);
    expect(calls).toBeGreaterThan(0);
    if (task !== undefined) expect(done()).toBeGreaterThan(before);
  });
});

/** Calls a good skill repeatedly; every call must succeed. */
async function callGood(signal: AbortSignal): Promise<number> {
  let calls = 0;
  // Examples may block this thread for longer than the server keeps an idle connection, so each call has its own.
  const headers = { connection: 'close' };
  do {
    const response = await stage.execute('test/good', { n: calls }, { headers });
    const outcome = (await response.json()) as Outcome;
    expect(outcome).toMatchObject({ ok: true, result: { n: calls } });
    calls++;
  } while (!signal.aborted);
  return calls;
}
