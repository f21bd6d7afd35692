/**
 * The engine's whole state is in its image: after any call, memory and globals are byte for byte what they were.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { JsCell, type Finished } from '../../../guest/wasm/js/cell/js-cell.ts';
import type { Listeners } from '../../../guest/wasm/js/cell/running.ts';
import type { EngineCode } from '../../../guest/wasm/js/engine/quickjs.ts';
import { checkImports, rewriteEngine } from '../../../guest/wasm/js/install/engine.ts';
import { QUICKJS, readQuickJs } from '../../../src/cell/engines/js-wasm/quickjs.ts';
import { packageRoot } from '../../../src/package-root.ts';

const LISTENERS: Listeners = {
  broker: { request: () => Promise.reject(new Error('nobody is there')) },
  onLog: () => undefined,
  onEvent: () => undefined,
};
const prelude = new Map<string, string>();
let code: EngineCode;

beforeAll(() => {
  const { module, facts } = rewriteEngine(new Uint8Array(readQuickJs()), QUICKJS.sha256);
  code = { module: new WebAssembly.Module(module), facts };
  const folder = join(packageRoot(), 'guest/wasm/js/prelude');
  for (const name of readdirSync(folder)) {
    const text = stripTypeScriptTypes(readFileSync(join(folder, name), 'utf8'));
    prelude.set(name.replace(/\.ts$/, '.js'), text.replaceAll(/(from\s+'\.[^']*)\.ts'/g, "$1.js'"));
  }
});

/** A cell whose instances can be inspected. */
function openCell(source: string): { cell: JsCell; state: () => string } {
  const opened: WebAssembly.Instance[] = [];
  const Original = WebAssembly.Instance;
  WebAssembly.Instance = class extends Original {
    constructor(...args: ConstructorParameters<typeof Original>) {
      super(...args);
      opened.push(this);
    }
  };
  try {
    const limits = { pages: 1024, output: 1 << 20, fuel: 4e9 };
    const init = {
      entry: 'skill.js',
      limits,
      preopens: [],
      prelude: { env: {}, declaredEnv: [], observe: false },
    };
    const cell = new JsCell({ code, init, texts: { bundle: new Map([['skill.js', source]]), prelude } });
    const state = (): string => {
      const exports = opened.at(-1)?.exports ?? {};
      const { memories = [], globals = [] } = code.facts.state ?? {};
      const hash = createHash('sha256');
      for (const name of memories) hash.update(new Uint8Array((exports[name] as WebAssembly.Memory).buffer));
      for (const name of globals) hash.update(String((exports[name] as WebAssembly.Global).value));
      return hash.digest('hex');
    };
    return { cell, state };
  } finally {
    WebAssembly.Instance = Original;
  }
}

const call = (cell: JsCell, params: unknown = {}): Promise<Finished> =>
  cell.call(Buffer.from(JSON.stringify(params)), LISTENERS);

describe('a call leaves no trace after', () => {
  test.each([
    ['a result', 'return { ok: true }'],
    ['an exception', 'throw new Error("x")'],
    [
      'globals and prototypes',
      'Object.prototype.x = 1; globalThis.y = []; Array.prototype.push = 0; return 1',
    ],
    [
      'a collected heap',
      'let a = []; for (let i = 0; i < 5000; i++) a.push({ i, t: "t" + i }); a = 0; return 1',
    ],
    ['random numbers', 'return [Math.random(), crypto.randomUUID()]'],
    ['a timer that is left over', 'setTimeout(() => {}, 1000); return 1'],
    ['a promise that is left over', 'new Promise(() => {}).then(() => 1); return 1'],
    ['new code', 'return eval("(function f(n) { return n ? f(n - 1) : 7 })")(10)'],
  ])('%s', async (_, body) => {
    const { cell, state } = openCell(`export async function execute() { ${body} }`);
    const before = state();
    const outcomes = new Set<unknown>();
    for (let count = 0; count < 3; count++) {
      outcomes.add((await call(cell)).body['t']);
      expect(state()).not.toBe(before);
      cell.reset();
      expect(state()).toBe(before);
    }
    expect(outcomes.size).toBe(1);
  });

  test('another call without a reset in between', async () => {
    const { cell } = openCell('let n = 0;\nexport const execute = () => ++n;');
    for (let count = 0; count < 3; count++)
      expect(Buffer.from((await call(cell)).payload ?? []).toString()).toBe('1');
  });
});

test('a reset that comes late, which does not affect the next call', async () => {
  const { cell } = openCell(
    'let n = 0;\nexport const execute = () => new Promise((done) => setTimeout(() => done(++n), 5));',
  );
  for (let count = 0; count < 3; count++) {
    const running = call(cell);
    cell.reset();
    expect(Buffer.from((await running).payload ?? []).toString()).toBe('1');
  }
});

test('a trap, an exhausted fuel or a grown memory, because the next instance is new', async () => {
  const { cell } = openCell(`
    export function execute({ act }) {
      if (act === 'loop') for (;;);
      if (act === 'grow') return new Uint8Array(8 << 20).length;
      return 'fine';
    }
  `);
  for (const act of ['loop', 'grow', 'loop']) {
    const { body } = await call(cell, { act });
    expect(body).toMatchObject(act === 'loop' ? { limit: 'fuel' } : { t: 'result' });
    cell.reset();
    expect(Buffer.from((await call(cell)).payload ?? []).toString()).toBe('"fine"');
    cell.reset();
  }
});

describe('another engine is refused because of', () => {
  test('its bytes', () => {
    const bytes = new Uint8Array(readQuickJs());
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    expect(() => rewriteEngine(bytes, QUICKJS.sha256)).toThrow('unexpected digest');
  });

  test('its imports', () => {
    const names = WebAssembly.Module.imports(code.module).map(({ module, name }) => `${module}.${name}`);
    checkImports(names);
    expect(() => checkImports([...names, 'env.system'])).toThrow('unexpected imports');
    expect(() => checkImports(names.slice(1))).toThrow('unexpected imports');
  });
});
