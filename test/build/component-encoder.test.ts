import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { install } from '../../guest/wasm/install/plan.ts';
import { encodeComponent } from '../../src/build/component-encoder.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { wat } from '../wasm/binary/support.ts';

const HOST = 'skillcell:skill/host@0.1.0';

function encode(text: string): Uint8Array | string {
  const core = wat(text);
  const module = new WebAssembly.Module(core);
  return encodeComponent(core, {
    exports: WebAssembly.Module.exports(module).map((item) => item.name),
    imports: WebAssembly.Module.imports(module),
  });
}

function component(text: string): Uint8Array {
  const encoded = encode(text);
  if (typeof encoded === 'string') throw new Error(encoded);
  return encoded;
}

/** A skill that returns its parameters; `body` runs first and may use them as locals 0 and 1. */
function echo({ imports = '', body = '', more = '' } = {}): string {
  return `(module ${imports}
    (memory (export "memory") 1)
    (data (i32.const 16) "GEThttp://127.0.0.1:9/")
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
    (func (export "execute") (param i32 i32) (result i32)
      ${body}
      (i32.store (i32.const 4) (local.get 0))
      (i32.store (i32.const 8) (local.get 1))
      i32.const 0)
    ${more})`;
}

const IMPORT_LOG = `(import "${HOST}" "log" (func $log (param i32 i32 i32)))`;
const IMPORT_FETCH = `(import "${HOST}" "fetch" (func $fetch (param i32 i32 i32 i32 i32 i32 i32 i32 i32)))`;
const LOG_PARAMS = '(call $log (i32.const 2) (local.get 0) (local.get 1))';
/** The result of a fetch is at 512; its first byte says whether it failed, followed by the address of the message. */
const FETCH = `(call $fetch (i32.const 16) (i32.const 3) (i32.const 19) (i32.const 19)
    (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 512))
  (i32.store (i32.const 0) (i32.load8_u (i32.const 512)))
  (local.set 0 (i32.load (i32.const 516)))
  (local.set 1 (i32.load (i32.const 520)))`;

describe('a module without imports', () => {
  test('becomes a component that exports execute and imports nothing', () => {
    const { plan, modules } = install(component(echo()), { maxPages: 16 });
    expect(plan).toMatchObject({ format: 'component', entry: 'execute', imports: [] });
    expect(modules).toHaveLength(1);
  });

  test('may have a function that runs after the return', () => {
    const post = '(func (export "cabi_post_execute") (param i32))';
    const { plan } = install(component(echo({ more: post })), { maxPages: 16 });
    const lifts = plan.component?.definitions.filter((item) => item.kind === 'canon');
    expect(lifts).toMatchObject([{ canon: { lift: { options: { postReturn: 2 } } } }]);
  });
});

describe('encoding a module that imports functions of the host', () => {
  test.each([
    [IMPORT_LOG, [HOST, `${HOST}#log`]],
    [IMPORT_FETCH, [HOST, `${HOST}#fetch`]],
    [IMPORT_FETCH + IMPORT_LOG, [HOST, `${HOST}#fetch`, `${HOST}#log`]],
  ])('accepts %s', (imports, expected) => {
    expect(install(component(echo({ imports })), { maxPages: 16 }).plan.imports).toEqual(expected);
  });
});

const HTTP = 'wasi:http/types@0.2.0';
const importOf = (module: string, name: string, type: string): string =>
  `(import "${module}" "${name}" (func ${type}))`;

describe('encoding a module that imports functions of WASI', () => {
  test.each([
    {
      what: 'a resource alone',
      imports: importOf('wasi:io/poll@0.2.0', '[resource-drop]pollable', '(param i32)'),
      expected: ['wasi:io/poll@0.2.0'],
    },
    {
      what: 'a variant as parameter',
      imports: importOf(HTTP, '[method]outgoing-request.set-method', '(param i32 i32 i32 i32) (result i32)'),
      expected: [HTTP],
    },
    {
      what: 'a type that uses one of another interface',
      imports: importOf('wasi:io/streams@0.2.0', '[method]input-stream.blocking-read', '(param i32 i64 i32)'),
      expected: ['wasi:io/error@0.2.0', 'wasi:io/streams@0.2.0'],
    },
    {
      what: 'a function whose types are all of another interface',
      imports: importOf('wasi:http/outgoing-handler@0.2.0', 'handle', '(param i32 i32 i32 i32)'),
      expected: ['wasi:http/outgoing-handler@0.2.0', HTTP],
    },
    {
      what: 'the same function twice',
      imports: importOf(HTTP, '[constructor]fields', '(result i32)').repeat(2),
      expected: [HTTP],
    },
  ])('accepts $what', ({ imports, expected }) => {
    const { plan } = install(component(echo({ imports })), { maxPages: 16 });
    expect(plan.imports.filter((name) => !name.includes('#')).toSorted()).toEqual(expected);
  });
});

describe('encoding a module that is not a skill', () => {
  test.each([
    ['(module)', 'it does not export "memory", "cabi_realloc", "execute"'],
    [echo().replace('"cabi_realloc"', '"realloc"'), 'it does not export "cabi_realloc"'],
    [
      echo({ imports: '(import "env" "abort" (func))' }),
      'it imports "abort" of "env", which is not part of the skill interface',
    ],
    [
      echo({ imports: `(import "${HOST}" "constructor" (func))` }),
      `it imports "constructor" of "${HOST}", which is not part of the skill interface`,
    ],
    [
      echo({ imports: importOf(HTTP, '[resource-drop]method', '(param i32)') }),
      `it imports "[resource-drop]method" of "${HTTP}", which is not part of the skill interface`,
    ],
    [
      echo({ imports: importOf('wasi:sockets/tcp@0.2.0', '[resource-drop]tcp-socket', '(param i32)') }),
      'it imports "[resource-drop]tcp-socket" of "wasi:sockets/tcp@0.2.0", which is not part of the skill interface',
    ],
  ])('refuses %s', (text, reason) => {
    expect(encode(text)).toBe(reason);
  });
});

describe('an encoded component in a cell', () => {
  let opened: TestRuntime;

  beforeAll(() => {
    opened = openTestRuntime({ audit: false });
  });

  afterAll(() => opened.close());

  function writeBundle(name: string, binary: Uint8Array, network: string): string {
    const dir = join(opened.folder, 'test', name);
    mkdirSync(dir, { recursive: true });
    const manifest = `name: test/${name}
version: 1.0.0
description: A skill of a test.
parameters: { type: object }
execution: wasm
entry: skill.wasm
capabilities: { network: [${network}] }
`;
    writeFileSync(join(dir, 'manifest.yaml'), manifest);
    writeFileSync(join(dir, 'skill.wasm'), binary);
    return dir;
  }

  test('returns a result, and its log becomes the log of the call', async () => {
    const dir = writeBundle('logs', component(echo({ imports: IMPORT_LOG, body: LOG_PARAMS })), '');
    const { result, logs } = await opened.runtime.execute(dir, { word: 'grüß' });
    expect(result).toEqual({ word: 'grüß' });
    expect(logs).toContain('info: {"word":"grüß"}');
  });

  test('receives the result of a fetch through memory', async () => {
    const imports = IMPORT_LOG + IMPORT_FETCH;
    const binary = component(echo({ imports, body: FETCH + LOG_PARAMS }));
    const dir = writeBundle('fetches', binary, '{ host: example.com }');
    const outcome = await opened.runtime.execute(dir, {}, { reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    expect(outcome.logs).toContain('info: denied: ');
  });
});
