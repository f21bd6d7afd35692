import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ProcessWall } from '../../../../src/cell/walls/process/wall.ts';
import { WarmCell } from '../../../../src/cell/protocol/warm-cell.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { POLITE, scriptedPlace } from '../../scripted-cell.ts';
import { writeWasmSkill } from '../../engines/component/bench.ts';
import { ECHO } from '../../engines/component/programs.ts';

const folder = openFolder();
const wall = new ProcessWall();

afterAll(async () => {
  await wall.close();
  removeFolder(folder);
});

/** Each act reports how it was stopped, or `done`. */
const PROBE = `
  const attempt = async (act) => {
    try { await act(); return 'done'; } catch (error) { return error.code ?? error.name; }
  };
  const socketTo = (port) => new Promise((resolve, reject) =>
    import('node:net').then(({ connect }) => connect(port, '127.0.0.1').on('connect', resolve).on('error', reject), reject));
  onCall = async ({ port, outside, own }, call) => {
    const fs = await import('node:fs');
    const acts = {
      readsOwnCode: () => fs.readFileSync(own),
      reads: () => fs.readFileSync('/etc/passwd'),
      readsOtherFolder: () => fs.readdirSync(outside),
      writes: () => fs.writeFileSync(outside + '/made', 'x'),
      writesOwnCode: () => fs.writeFileSync(own, 'x'),
      links: () => fs.symlinkSync('/etc', outside + '/link'),
      connects: () => socketTo(port),
      listens: async () => { const { createServer } = await import('node:net'); await new Promise((ok, no) => createServer().on('error', no).listen(0, ok)); },
      resolves: async () => { const { lookup } = await import('node:dns/promises'); await lookup('localhost'); },
      sends: async () => { const { createSocket } = await import('node:dgram'); await new Promise((ok, no) => { const s = createSocket('udp4'); s.on('error', no); s.send('x', port, '127.0.0.1', (e) => e ? no(e) : ok()); }); },
      fetches: () => fetch('http://127.0.0.1:' + port).catch((error) => { throw error.cause ?? error; }),
      spawns: async () => { const { spawnSync } = await import('node:child_process'); const { error } = spawnSync('/bin/true'); if (error) throw error; },
      threads: async () => { const { Worker } = await import('node:worker_threads'); new Worker('0', { eval: true }); },
      sqlite: async () => { const { DatabaseSync } = await import('node:sqlite'); new DatabaseSync('/etc/passwd'); },
      inspects: async () => { const { Session } = await import('node:inspector'); new Session().connect(); },
      wasi: async () => { const { WASI } = await import('node:wasi'); new WASI({ version: 'preview1', preopens: { '/': '/' } }); },
      addons: () => process.dlopen({ exports: {} }, '/none.node'),
      evals: () => (0, eval)('1'),
      makesFunctions: () => new Function('return 1')(),
      bindings: () => process.binding('fs').open('/etc/passwd'),
      importsData: () => import('data:text/javascript,export default 1'),
      hasEnvironment: () => { if (Object.keys(process.env).length === 0) throw { code: 'EMPTY' }; },
    };
    const found = {};
    for (const [name, act] of Object.entries(acts)) found[name] = await attempt(act);
    raw(answer(found, call));
  };
  send({ t: 'ready' });
`;

describe('the wall `process`', () => {
  it('gives a program access only to its own code and the channel', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const place = scriptedPlace(folder, wall, { name: 'probe', body: PROBE });
    const cell = new WarmCell({
      ...place,
      process: wall.launch(place.artifact.spec(place.grant), place.grant),
    });
    const { reply, logs } = await cell.call({ port, outside: folder, own: join(folder, 'probe', 'main.js') });
    cell.close();
    server.close();
    expect(reply?.kind, logs).toBe('result');
    const { readsOwnCode, ...denied } = (reply as unknown as { value: Record<string, string> }).value;
    expect(readsOwnCode).toBe('done');
    expect(denied).toEqual({
      reads: 'ERR_ACCESS_DENIED',
      readsOtherFolder: 'ERR_ACCESS_DENIED',
      writes: 'ERR_ACCESS_DENIED',
      writesOwnCode: 'ERR_ACCESS_DENIED',
      links: 'ERR_ACCESS_DENIED',
      connects: 'ERR_ACCESS_DENIED',
      listens: 'ERR_ACCESS_DENIED',
      resolves: 'ERR_ACCESS_DENIED',
      sends: 'ERR_ACCESS_DENIED',
      fetches: 'ERR_ACCESS_DENIED',
      spawns: 'ERR_ACCESS_DENIED',
      threads: 'ERR_ACCESS_DENIED',
      sqlite: 'ERR_UNKNOWN_BUILTIN_MODULE',
      inspects: 'ERR_ACCESS_DENIED',
      wasi: 'ERR_ACCESS_DENIED',
      addons: 'ERR_DLOPEN_DISABLED',
      evals: 'EvalError',
      makesFunctions: 'EvalError',
      bindings: 'ERR_ACCESS_DENIED',
      importsData: expect.any(String),
      hasEnvironment: 'EMPTY',
    });
  });

  it('kills a process that exceeds its memory limit', async () => {
    const body =
      "onCall = () => { const held = []; for (;;) held.push(Buffer.alloc(1 << 24, 1)); }; send({ t: 'ready' });";
    const place = scriptedPlace(folder, wall, { name: 'hungry', body });
    const grant = { ...place.grant, limits: { ...place.grant.limits, memory: 200 << 20 } };
    const cell = new WarmCell({ ...place, process: wall.launch(place.artifact.spec(grant), grant) });
    expect((await cell.call({})).killReason).toBe('memory');
  });

  it('works behind a symlink, although Node checks permissions on real paths', async () => {
    symlinkSync(folder, `${folder}-link`);
    try {
      const place = scriptedPlace(`${folder}-link`, wall, { name: 'linked', body: POLITE });
      const cell = new WarmCell({
        ...place,
        process: wall.launch(place.artifact.spec(place.grant), place.grant),
      });
      expect((await cell.call({})).reply?.kind).toBe('result');
      cell.close();
    } finally {
      removeFolder(`${folder}-link`);
    }
  });

  it('leaves no process behind when it is closed', async () => {
    const own = new ProcessWall();
    const place = scriptedPlace(folder, own, { name: 'closing', body: POLITE });
    const process = own.launch(place.artifact.spec(place.grant), place.grant);
    await own.close();
    expect(await process.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('is named in the outcome and by doctor if there is no jail', async () => {
    const { runtime, folder: home, close } = openTestRuntime({ jail: { bwrap: '/nonexistent' } });
    const outcome = await runtime.execute(writeWasmSkill(home, { binary: ECHO }), { a: 1 });
    expect(outcome.execution).toMatchObject({ mode: 'wasm', wall: 'process', engine: 'component' });
    const report = await runtime.doctor();
    const wasm = report.find(({ mode }) => mode === 'wasm');
    expect(wasm).toMatchObject({ available: true, wall: 'process', engine: 'component' });
    expect(wasm?.summary).toContain('no namespaces');
    expect(report.find(({ mode }) => mode === 'subprocess')?.available).toBe(false);
    await close();
  });
});
