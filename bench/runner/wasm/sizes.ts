/**
 * The cost of a larger binary: the same component with functions that are never called.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseComponent } from '../../../guest/wasm/binary/component.ts';
import type { CoreModule } from '../../../guest/wasm/binary/core-module.ts';
import { Reader } from '../../../guest/wasm/binary/reader.ts';
import { Writer } from '../../../guest/wasm/install/writer.ts';
import type { Runtime } from '../../../src/index.ts';
import { assertSame } from '../rounds.ts';
import { quantile } from '../statistics.ts';
import { PARAMS, writeBundle, type Language } from './languages.ts';
import { runtimeBehind } from './ours.ts';

export interface SizeCost {
  bytes: number;
  /** Reading, checking and rewriting, once per binary. */
  installMs: number;
  /** The first call, including the start of a cell and compilation. */
  coldMs: number;
  /** Median of the following calls. */
  warmMs: number;
  warmP99Ms: number;
}

/** In bytes; the first is close to nothing. */
const ADDED: readonly number[] = [1, 256 * 1024, 1024 * 1024, 4 * 1024 * 1024];
const WARM_CALLS = 100;
/** Size of an added function: three bytes more than a multiple of three. */
const BODY_BYTES = 4098;
const SECTION = { coreModule: 1, function: 3, code: 10 } as const;
const MODULE_HEADER_BYTES = 8;

export async function measureSizes(
  language: Language,
  folder: string,
  sizes: readonly number[] = ADDED,
): Promise<SizeCost[]> {
  const original = readFileSync(join(language.dir, 'skill.wasm'));
  // Every first call starts a process of its own.
  await using runtime = runtimeBehind('jail', join(folder, 'sizes'), { pool: { spares: 0 } });
  // The first load of a runtime also probes the wall and stages the guest code.
  await runtime.load(language.dir);
  const costs: SizeCost[] = [];
  for (const added of sizes) {
    const bytes = padComponent(original, original.length + added);
    const dir = join(folder, `size-${bytes.length}`, 'text', 'word_stats_padded');
    writeBundle(language, dir, bytes);
    costs.push({ bytes: bytes.length, ...(await measureSize(runtime, dir)) });
  }
  return costs;
}

async function measureSize(runtime: Runtime, dir: string): Promise<Omit<SizeCost, 'bytes'>> {
  const began = performance.now();
  const skill = await runtime.load(dir);
  const installed = performance.now();
  const first = await runtime.execute(skill, PARAMS);
  const called = performance.now();
  const expected = JSON.stringify(first.result);
  const warm: number[] = [];
  for (let call = 0; call < WARM_CALLS; call++) {
    const sent = performance.now();
    const { result } = await runtime.execute(skill, PARAMS);
    warm.push(performance.now() - sent);
    assertSame('A padded component', JSON.stringify(result), expected);
  }
  return {
    installMs: installed - began,
    coldMs: called - installed,
    warmMs: quantile(warm, 0.5),
    warmP99Ms: quantile(warm, 0.99),
  };
}

/** A component of one core module, grown to about `bytes`. */
export function padComponent(original: Uint8Array, bytes: number): Uint8Array {
  const [module, second] = parseComponent(new Reader(original)).modules;
  const missing = bytes - original.length;
  if (!module || second) throw new Error('Only a component with one core module can be padded');
  const padded = padModule(module, Math.ceil(missing / BODY_BYTES));
  const out = new Writer(original.length + padded.length + 16);
  out.bytes(original.subarray(0, startOfSection(original, module)));
  out.byte(SECTION.coreModule);
  out.u32(padded.length);
  out.bytes(padded);
  out.bytes(original.subarray(module.end));
  return out.view.slice();
}

/** The section id is before the length of the module, which is before the module. */
function startOfSection(bytes: Uint8Array, module: CoreModule): number {
  let at = module.start - 2;
  while (((bytes[at] ?? 0) & 0x80) !== 0) at--;
  if (bytes[at] !== SECTION.coreModule) throw new Error('The core module is not a separate section');
  return at;
}

function padModule(module: CoreModule, functions: number): Uint8Array {
  const out = new Writer((functions + 1) * (BODY_BYTES + 8) + module.end - module.start);
  out.bytes(module.bytes.subarray(module.start, module.start + MODULE_HEADER_BYTES));
  for (const section of module.sections) {
    const item = addedTo(section.id);
    const content = new Writer(section.end - section.start + functions * (BODY_BYTES + 8));
    const reader = new Reader(module.bytes, section.start, section.end);
    if (item) content.u32(reader.u32() + functions);
    content.bytes(module.bytes.subarray(reader.position, section.end));
    if (item) for (let index = 0; index < functions; index++) content.bytes(item);
    out.byte(section.id);
    out.u32(content.length);
    out.bytes(content.view);
  }
  return out.view.slice();
}

/** One more function: its type, which may be any, or its body, which never reaches its end. */
function addedTo(section: number): Uint8Array | undefined {
  if (section === SECTION.function) return Uint8Array.of(0);
  if (section !== SECTION.code) return undefined;
  const body = new Writer(BODY_BYTES + 8);
  body.u32(BODY_BYTES);
  body.byte(0); // no locals
  const instructions = BODY_BYTES - 3;
  for (let at = 0; at < instructions; at += 3) body.bytes([0x41, 1, 0x1a]); // i32.const 1, drop
  body.bytes([0x00, 0x0b]); // unreachable, end
  return body.view;
}
