/**
 * Every call of a Python cell starts from the same image, regardless of earlier calls.
 *
 * @module
 */
/* oxlint-disable no-underscore-dangle -- names of the C library */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../../../guest/wasm/python/cell/engine-files.ts';
import { ports } from '../../../../guest/wasm/python/cell/ports.ts';
import { FixedTree } from '../../../../guest/wasm/python/files/fixed-tree.ts';
import { DeviceTree } from '../../../../guest/wasm/python/files/devices.ts';
import { Mounts } from '../../../../guest/wasm/python/files/mounts.ts';
import { GuestProcess } from '../../../../guest/wasm/python/host/process.ts';
import { Interpreter } from '../../../../guest/wasm/python/engine/interpreter.ts';
import type { Skill } from '../../../../src/index.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { readInstalled } from './installed.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

/** A skill that runs code from its parameters and returns `r`. */
const RUNNER = `
  import sys
  STATE = []
  def execute(params):
      names = {}
      exec(params["code"], names)
      return names.get("r")
`;

let skill: Skill;
beforeAll(async () => {
  skill = await runtime.load(
    writeSkill(folder, { source: RUNNER, manifest: { limits: { memory: '96MiB' } } }),
  );
  await runtime.warm(skill, { execution: 'wasm' });
});

async function run(code: string): Promise<unknown> {
  const outcome = await runtime.execute(skill, { code }, { execution: 'wasm', reject: false });
  return outcome.ok ? outcome.result : `${outcome.error.code}: ${outcome.error.message}`;
}

const TAINT = `
import atexit, builtins, gc, json, os, random, signal, sys, time
sys.modules["skill_module"].STATE.append("tainted")
builtins.TAINT = json.TAINT = sys.TAINT = 1
json.loads = json.dumps = len
os.environ["TAINT"] = "1"
sys.modules["evil"] = json
sys.path.insert(0, "/tmp")
sys.stdout.write = print
time.sleep = None
os.write = lambda *a: 1 / 0
atexit.register(print, "evil")
signal.signal(signal.SIGINT, lambda *a: None)
gc.disable()
sys.setrecursionlimit(5000)
random.seed(1)
open("/tmp/planted.py", "w").write("x = 1")
open("/dev/shm/planted", "w").write("x")
os.chdir("/tmp")
os.umask(0)
os.open("/skill/skill.py", os.O_RDONLY)
sys.modules["_skillcell"].cell.answer = None
sys.addaudithook(lambda *a: None)
r = "tainted"
`;

const CLEAN = `
import builtins, gc, json, os, random, signal, sys, time
r = {
    "state": sys.modules["skill_module"].STATE,
    "taints": [hasattr(m, "TAINT") for m in (builtins, json, sys)],
    "json": json.loads("[1]"),
    "env": os.environ.get("TA" + "INT"),
    "evil": "evil" in sys.modules,
    "path": "/tmp" in sys.path,
    "sleep": callable(time.sleep),
    "signal": repr(signal.getsignal(signal.SIGINT)),
    "gc": gc.isenabled(),
    "limit": sys.getrecursionlimit(),
    "files": os.listdir("/tmp") + os.listdir("/dev/shm"),
    "cwd": os.getcwd(),
    "mask": os.umask(0o22),
    "fd": os.dup(0),
}
`;
import { READ } from '../../../wasm/python/open-options.ts';

test('a call that taints everything it can reach leaves nothing behind', async () => {
  const before = await run(CLEAN);
  expect(before).toMatchObject({ state: [], taints: [false, false, false], files: [], cwd: '/skill', fd: 4 });
  for (let round = 0; round < 3; round++) {
    // It may fail, because it has tampered with its own harness.
    await run(TAINT);
    expect(await run(CLEAN)).toEqual(before);
  }
});

test('both calls run in one process', async () => {
  await run('r = 1');
  const { execution } = await runtime.execute(skill, { code: 'r = 2' }, { execution: 'wasm' });
  expect(execution).toMatchObject({ engine: 'python-wasm', start: 'warm', fresh: true });
});

describe('the next call works after a call that', () => {
  test.each([
    ['fills the memory', 'x = []\nwhile True: x.append(bytearray(1 << 20))', /memory/],
    ['allocates too much at once', 'x = "x" * 10**9', /memory/],
    ['recurses', 'def f(n): return f(n + 1)\nf(0)', /RecursionError/],
    [
      'recurses in C',
      'import json\na = []\nfor _ in range(100000): a = [a]\njson.dumps(a)',
      /RecursionError/,
    ],
    [
      'recurses beyond the stack of JavaScript',
      'a = None\nfor _ in range(1000000): a = (a,)\ndel a\nr = 1',
      /RecursionError/,
    ],
    [
      'frees a list of 100,000 levels',
      'a = None\nfor _ in range(100000): a = [a]\ndel a\nr = 1',
      /RecursionError/,
    ],
    [
      'computes the hash of a tuple of 100,000 levels',
      'import sys\na = ()\nfor _ in range(100000): a = (a,)\nsys.kept = a\nhash(a)',
      /RecursionError/,
    ],
    [
      'corrupts its code',
      'def f(): pass\nf.__code__ = f.__code__.replace(co_code=bytes([100, 255] * 50), co_consts=())\nf()',
      // What it reads instead of constants depends on the image: usually it traps, sometimes it never ends.
      /skill_error|resource_exceeded/,
    ],
    ['aborts', 'import os\nos.abort()', /SIGABRT/],
    ['exits', 'import os\nos._exit(5)', /exit code 5/],
    [
      'loads a library',
      'import _imp, importlib.machinery as m\n_imp.create_dynamic(m.ModuleSpec("x", None, origin="/lib/x.so"))',
      /skill_error/,
    ],
    ['imports ctypes', 'import ctypes', /No module named/],
    ['imports js', 'import js', /No module named/],
    ['imports pyodide', 'import pyodide', /No module named/],
  ])('%s', async (_, code, message) => {
    expect(String(await run(code))).toMatch(message);
    expect(await run('r = sum(range(100))')).toBe(4950);
  });
});

test.each(['repr(a)', 'a == b', 'json.dumps(a)'])(
  'a skill can catch that %s recurses too deeply',
  async (act) => {
    const code = `
import json, sys
a, b = [], []
for _ in range(100000): a, b = [a], [b]
# Freeing them would recurse, too.
sys.kept = a, b
try: ${act}
except RecursionError: r = "caught"`;
    expect(await run(code)).toBe('caught');
  },
);

test('the memory of large calls does not add up', async () => {
  for (let call = 0; call < 30; call++)
    expect(await run('x = bytearray(60 << 20)\nr = len(x)')).toBe(60 << 20);
});

test.each([
  ['time.sleep', 'import time', 'time.sleep(seconds)'],
  ['asyncio.sleep', 'import asyncio', 'asyncio.run(asyncio.sleep(seconds))'],
  ['select', 'import select', 'select.select([], [], [], seconds)'],
])('%s waits without using CPU time', async (_, imports, wait) => {
  const waitFor = async (seconds: number): Promise<{ took: unknown; cpuMs: number }> => {
    const clock = 'import time\nstart = time.monotonic()';
    const code = `${imports}\nseconds = ${seconds}\n${clock}\n${wait}\nr = time.monotonic() - start`;
    const { result, usage } = await runtime.execute(skill, { code }, { execution: 'wasm' });
    return { took: result, cpuMs: usage.cpu_ms };
  };
  // A baseline, because the cost of the import does not matter here.
  const withoutWait = await waitFor(0);
  const later = await waitFor(1);
  expect(later.took).toBeGreaterThanOrEqual(1);
  expect(later.cpuMs - withoutWait.cpuMs).toBeLessThan(500);
});

describe('running out of memory', () => {
  test('is a MemoryError that a skill can handle', async () => {
    const code =
      'try: x = bytearray(10**9)\nexcept MemoryError: r = "handled"\nx = [0] * 10\nr = [r, len(x)]';
    expect(await run(code)).toEqual(['handled', 10]);
  });

  test('is reported as the memory limit if the skill does not handle it', async () => {
    const code = 'x = []\nwhile True: x.append(bytearray(1 << 20))';
    const outcome = await runtime.execute(skill, { code }, { execution: 'wasm', reject: false });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'memory', allowed: 96 << 20 } },
    });
  });
});

test.each([
  ['a trap', 'import os\nos.abort()'],
  ['a timeout', 'while True: pass'],
])('after %s the process is replaced', async (_, code) => {
  const manifest = { execution: ['wasm'], limits: { timeout: '4s' } };
  const short = await runtime.load(writeSkill(folder, { source: RUNNER, manifest }));
  await runtime.warm(short);
  const startOf = async (text: string): Promise<string | undefined> => {
    const { execution } = await runtime.execute(short, { code: text }, { reject: false });
    return execution?.start;
  };
  expect([await startOf('r = 1'), await startOf('r = 1')]).toEqual(['pool', 'warm']);
  expect(await startOf(code)).toBe('warm');
  // Another process: one that starts for the call, or one that waited for a skill.
  expect(await startOf('r = 1')).not.toBe('warm');
  expect(await startOf('r = 1')).toBe('warm');
});

describe('the standard library', () => {
  test.each([
    [
      'asyncio',
      'import asyncio\nasync def f():\n  return await asyncio.wait_for(asyncio.sleep(0.01, "x"), 1)\nr = asyncio.run(f())',
      'x',
    ],
    ['asyncio.to_thread', 'import asyncio\nr = asyncio.run(asyncio.to_thread(len, "abc"))', 3],
    [
      'a thread pool',
      'from concurrent.futures import ThreadPoolExecutor as T\nwith T(4) as p: r = sum(p.map(lambda n: n * n, range(8)))',
      140,
    ],
    [
      'pbkdf2',
      'import hashlib\nr = hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 2, 20).hex()',
      'ae4d0c95af6b46d32d0adff928f06dd02a303f8e',
    ],
    [
      'a temporary folder',
      'import os, tempfile\nwith tempfile.TemporaryDirectory() as d:\n  open(d + "/a", "w").write("x")\nr = os.listdir("/tmp")',
      [],
    ],
    [
      'sqlite',
      'import sqlite3\nc = sqlite3.connect("/tmp/db")\nc.execute("create table a(b)")\nc.execute("insert into a values(1)")\nc.commit()\nr = sqlite3.connect("/tmp/db").execute("select b from a").fetchone()',
      [1],
    ],
    [
      'dates in UTC',
      'import datetime, time\nr = [time.strftime("%Y-%m-%d %j", time.gmtime(0)), str(datetime.datetime.now().astimezone().tzinfo)]',
      ['1970-01-01 001', 'UTC'],
    ],
    ['importing ssl', 'import ssl\nr = ssl.create_default_context().check_hostname', true],
  ])('supports %s', async (_, code, expected) => {
    expect(await run(code)).toEqual(expected);
  });

  test.each([
    ['threads', 'import threading\nthreading.Thread(target=print).start()', /Wasm cell has no threads/],
    ['time zones', 'import zoneinfo\nzoneinfo.ZoneInfo("Europe/Berlin")', /add the requirement tzdata/],
  ])('raises an error that says what is missing for %s', async (_, code, message) => {
    expect(String(await run(code))).toMatch(message);
  });
});

test('a module body that looks up package versions still runs only once for all calls', async () => {
  const source = `
    import importlib.metadata, time
    NAMES = [one.name for one in importlib.metadata.distributions()]
    STAMP = str(time.time_ns())
    def execute(params):
        return STAMP
  `;
  const loaded = await runtime.load(writeSkill(folder, { source }));
  const first = await runtime.execute(loaded, {}, { execution: 'wasm' });
  const second = await runtime.execute(loaded, {}, { execution: 'wasm' });
  expect(second.execution?.start).toBe('warm');
  expect(second.result).toBe(first.result);
});

describe('the interpreter', () => {
  test('is restored byte for byte after any call, even if nothing marked what was written', () => {
    const engine = readInstalled(runtime.home);
    const interpreter = bareInterpreter(engine, { restoresAll: true });
    const { layout, functions } = engine.facts;
    const init = { task: 'inspect', env: { A: 'b' } };
    for (let round = 0; round < 3; round++) {
      interpreter.call(functions.prepare, new TextEncoder().encode(JSON.stringify(init)));
      const bytes = allOf(interpreter);
      expect(Buffer.compare(bytes.subarray(0, engine.image.memory.length), engine.image.memory)).not.toBe(0);
      // Simulates a guest that can write anywhere.
      bytes.fill(0xee, bytes.length - 4096);
      bytes.fill(0xee, layout.stackLow, layout.stackLow + 64);
      interpreter.exports.__stack_pointer.value = layout.stackLow + 128;
      interpreter.restore(engine.image, layout);
      const after = allOf(interpreter);
      expect(Buffer.compare(after.subarray(0, engine.image.memory.length), engine.image.memory)).toBe(0);
      expect(after.subarray(engine.image.memory.length).every((byte) => byte === 0)).toBe(true);
      expect(interpreter.exports.__stack_pointer.value).toBe(engine.image.stackPointer);
    }
  });

  test('is not intact after a table of references has grown, which an image cannot undo', () => {
    const interpreter = bareInterpreter(readInstalled(runtime.home));
    expect(interpreter.isIntact).toBe(true);
    interpreter.exports.references_2.grow(1);
    expect(interpreter.isIntact).toBe(false);
  });

  test('remembers that a bridge to JavaScript was touched', () => {
    const interpreter = bareInterpreter(readInstalled(runtime.home));
    expect(() => interpreter.alarm.stub('js2python_js')()).toThrow(/no js2python_js/);
    expect(() => interpreter.alarm.check()).toThrow(/no js2python_js/);
    interpreter.alarm.reset();
    expect(() => interpreter.alarm.check()).not.toThrow();
  });
});

/** Unlike the import layer, a test may write anywhere. */
function allOf({ memory }: Interpreter): Uint8Array {
  return new Uint8Array(memory.memory.buffer);
}

function bareInterpreter(engine: Engine, { restoresAll = false } = {}): Interpreter {
  const outside = ports((code) => expect.fail(`exit ${code}`));
  const devices = new DeviceTree(outside.random);
  const mounts = new Mounts();
  mounts.mount('/lib', engine.library);
  mounts.mount('/skill', new FixedTree());
  const process = new GuestProcess({
    mounts,
    onOutput: () => undefined,
    channel: devices.open(['null'], READ),
  });
  const pages = engine.image.memory.length / 65_536 + 16;
  const interpreter = new Interpreter({
    code: engine.code,
    initialPages: pages,
    maxPages: 4096,
    restoresAll,
    surroundings: { process, ports: outside, env: {} },
  });
  interpreter.restore(engine.image, engine.facts.layout);
  return interpreter;
}
