/**
 * Prepares QuickJS for cells: the same module with a memory maximum, fuel charged on every path, and all its mutable
 * state exported, so that an instance can be reset. Any binary other than the known one is refused.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { parseCoreModule } from '../../binary/core-module.ts';
import { Reader } from '../../binary/reader.ts';
import type { ModuleFacts } from '../../contract.ts';
import { rewriteModule } from '../../install/rewrite.ts';

/** Everything that the engine may import. Our import layer was written for this list. */
const KNOWN_IMPORTS: readonly string[] = [
  'env.host_call',
  'env.host_get_timezone_offset',
  'env.host_interrupt',
  'env.host_module_load',
  'env.host_module_normalize',
  'env.host_promise_rejection',
  'wasi_snapshot_preview1.clock_time_get',
  'wasi_snapshot_preview1.fd_close',
  'wasi_snapshot_preview1.fd_fdstat_get',
  'wasi_snapshot_preview1.fd_seek',
  'wasi_snapshot_preview1.fd_write',
  'wasi_snapshot_preview1.random_get',
];
/** The grant of a call lowers it further. */
const MAX_PAGES = 65_536;

export interface RewrittenEngine {
  module: Uint8Array;
  facts: ModuleFacts;
}

export function rewriteEngine(bytes: Uint8Array, sha256: string): RewrittenEngine {
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256) throw new Error(`The engine has an unexpected digest: ${found}`);
  const module = parseCoreModule(new Reader(bytes));
  checkImports(module.imports.map(({ module: from, name, kind }) => `${from}.${name}${suffixOf(kind)}`));
  const takenNames = new Set([...module.imports, ...module.exports].map(({ name }) => name));
  const rewritten = rewriteModule(module, { maxPages: MAX_PAGES, takenNames, inventory: true });
  if (!rewritten.facts.state) throw new Error('The engine has state that an image cannot restore');
  if (!WebAssembly.validate(rewritten.bytes)) throw new Error('The engine cannot be metered');
  return { module: rewritten.bytes, facts: rewritten.facts };
}

function suffixOf(kind: string): string {
  return kind === 'func' ? '' : ` (${kind})`;
}

export function checkImports(names: readonly string[]): void {
  const [found, known] = [names.toSorted().join(', '), KNOWN_IMPORTS.join(', ')];
  if (found !== known) throw new Error(`The engine has unexpected imports: ${found}`);
}
