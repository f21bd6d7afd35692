/**
 * Mutates binaries, installs and links them. A finding is an exception other than BinaryError, a valid module that is
 * rewritten to an invalid one, an invalid one that becomes valid, a module that gives another result when it is metered,
 * or more than two seconds for one input.
 *
 * @module
 */
import { parseComponent } from '../guest/wasm/binary/component.ts';
import { parseCoreModule, type CoreModule } from '../guest/wasm/binary/core-module.ts';
import { BinaryError, Reader } from '../guest/wasm/binary/reader.ts';
import { install } from '../guest/wasm/install/plan.ts';
import { rewriteModule } from '../guest/wasm/install/rewrite.ts';
import { differenceInBehaviour } from './fuzz-behaviour.ts';
import { linkInstalled } from './fuzz-link.ts';

export interface FuzzOptions {
  corpus: readonly Uint8Array[];
  /** Every input follows from one number, counted up from here. */
  seed: number;
  seconds: number;
  /** Ends earlier after this many inputs. */
  runs?: number;
}

export interface Finding {
  seed: number;
  what: string;
}

export interface FuzzReport {
  runs: number;
  /** Inputs that were not refused: a fuzzer whose inputs are all refused at once tests little. */
  accepted: number;
  findings: Finding[];
}

const MAX_PAGES = 64;
const SLOW_MS = 2_000;
const MAX_FINDINGS = 10;

export function fuzzInstall(options: FuzzOptions): FuzzReport {
  const report: FuzzReport = { runs: 0, accepted: 0, findings: [] };
  const deadline = Date.now() + options.seconds * 1_000;
  const runs = options.runs ?? Number.POSITIVE_INFINITY;
  while (Date.now() < deadline && report.runs < runs && report.findings.length < MAX_FINDINGS) {
    const seed = options.seed + report.runs;
    report.runs++;
    const { what, accepted } = tryInput(mutant(options.corpus, seed));
    if (accepted) report.accepted++;
    if (what !== undefined) report.findings.push({ seed, what });
  }
  return report;
}

function tryInput(bytes: Uint8Array): { what?: string; accepted: boolean } {
  const start = performance.now();
  let accepted = false;
  try {
    const modules =
      bytes[6] === 1 ? parseComponent(new Reader(bytes)).modules : [parseCoreModule(new Reader(bytes))];
    for (const module of modules) compare(module);
    accepted = true;
    const installed = install(bytes, { maxPages: MAX_PAGES });
    linkInstalled(installed.plan, installed.modules);
  } catch (error) {
    if (!(error instanceof BinaryError)) return { what: describe(error), accepted };
    if (error.offset < 0 || error.offset > bytes.length) return { what: `Offset ${error.offset}`, accepted };
  }
  const took = performance.now() - start;
  return took > SLOW_MS ? { what: `Took ${Math.round(took)} ms`, accepted } : { accepted };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Metering must neither break a module, nor mend one, nor change what it does. */
function compare(module: CoreModule): void {
  const before = WebAssembly.validate(module.bytes.slice(module.start, module.end));
  const rewritten = rewriteModule(module, { maxPages: MAX_PAGES, takenNames: new Set() });
  const after = WebAssembly.validate(rewritten.bytes);
  if (before && !after) throw new Error('A valid module was rewritten to an invalid one');
  if (!before && after) throw new Error('An invalid module was rewritten to a valid one');
  const difference = before ? differenceInBehaviour(module, rewritten) : undefined;
  if (difference !== undefined) throw new Error(difference);
}

// --- inputs -----------------------------------------------------------------------------------------------

/** The input that a seed stands for. */
export function mutant(corpus: readonly Uint8Array[], seed: number): Uint8Array {
  const random = randomOf(seed);
  const original = corpus[random(corpus.length)] ?? new Uint8Array();
  let bytes: Uint8Array = original.slice();
  for (let count = 1 + random(4); count > 0; count--) bytes = mutateOnce(bytes, { random, corpus });
  return bytes;
}

type Random = (below: number) => number;

/** A small generator with a good spread (mulberry32): the same numbers on every machine. */
function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return below === 0 ? 0 : ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

/** Opcodes, type codes and numbers on which decoders stumble. */
const TELLING_BYTES: readonly number[] = [
  0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0b, 0x0e, 0x10, 0x18, 0x19, 0x1f, 0x23, 0x40, 0x41, 0x42,
  0x60, 0x63, 0x69, 0x6f, 0x70, 0x73, 0x7b, 0x7f, 0x80, 0xd0, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
];
const LARGE_NUMBER: readonly number[] = [0xff, 0xff, 0xff, 0xff, 0x0f];

interface MutationTools {
  random: Random;
  corpus: readonly Uint8Array[];
}

function mutateOnce(bytes: Uint8Array, { random, corpus }: MutationTools): Uint8Array {
  const at = random(bytes.length);
  const kind = random(12);
  if (kind < 4) return overwrite(bytes, at, [TELLING_BYTES[random(TELLING_BYTES.length)] as number]);
  if (kind < 6) return overwrite(bytes, at, [(bytes[at] ?? 0) ^ (1 << random(8))]);
  if (kind < 7) return overwrite(bytes, at, [((bytes[at] ?? 0) + 1) & 0xff]);
  if (kind < 8) return overwrite(bytes, at, LARGE_NUMBER);
  const length = 1 + random(16);
  if (kind < 9) return join(bytes.subarray(0, at), bytes.subarray(at + length));
  if (kind < 10) return join(bytes.subarray(0, at + length), bytes.subarray(at));
  if (kind < 11) return bytes.slice(0, at);
  const other = corpus[random(corpus.length)] ?? bytes;
  return overwrite(bytes, at, [...other.subarray(random(other.length)).subarray(0, length)]);
}

function overwrite(bytes: Uint8Array, at: number, values: readonly number[]): Uint8Array {
  bytes.set(values.slice(0, Math.max(0, bytes.length - at)), at);
  return bytes;
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
