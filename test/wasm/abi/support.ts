import loadWabt from 'wabt';
import { AbiContext } from '../../../guest/wasm/abi/context.ts';
import { HandleTable } from '../../../guest/wasm/abi/resources.ts';
import type { CanonOptions } from '../../../guest/wasm/contract.ts';

const wabt = await loadWabt();

export function compile(text: string): WebAssembly.Module {
  const parsed = wabt.parseWat('test.wat', text, {
    bulk_memory: true,
    multi_value: true,
    mutable_globals: true,
    exceptions: true,
    reference_types: true,
  });
  const { buffer } = parsed.toBinary({});
  parsed.destroy();
  return new WebAssembly.Module(new Uint8Array(buffer));
}

/** Memory, a bump allocator that keeps alignment and grows, and the counter that the rewriter would add. */
export const GUEST_BASICS = `
  (memory (export "memory") 1 64)
  (global $next (mut i32) (i32.const 4096))
  (global (export "fuel") (mut i64) (i64.const 0))
  (func $realloc (export "cabi_realloc") (param $old i32) (param $oldSize i32) (param $align i32) (param $size i32)
    (result i32) (local $at i32)
    (local.set $at (i32.and
      (i32.add (global.get $next) (i32.sub (local.get $align) (i32.const 1)))
      (i32.sub (i32.const 0) (local.get $align))))
    (global.set $next (i32.add (local.get $at) (local.get $size)))
    (block $fits
      (loop $more
        (br_if $fits (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
        (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
        (br $more)))
    (local.get $at))`;

export interface ContextOptions {
  encoding?: CanonOptions['encoding'];
  valueBytes?: number;
  transferBytes?: number;
  handles?: number;
}

/** A context over a real core instance that exports `memory` and optionally `cabi_realloc`. */
export function contextOf(exports: WebAssembly.Exports, options: ContextOptions = {}): AbiContext {
  const quota = { held: 0, limit: options.handles ?? 100 };
  const context = new AbiContext({
    border: { id: 0, handles: new HandleTable(quota), mayEnter: true, mayLeave: true },
    budget: { left: options.transferBytes ?? 1 << 26, value: options.valueBytes ?? 1 << 24 },
    encoding: options.encoding ?? 'utf8',
    memory: exports['memory'] as WebAssembly.Memory,
    realloc: exports['cabi_realloc'] as CallableFunction | undefined,
  });
  context.refresh();
  return context;
}

export function basicContext(options: ContextOptions = {}): AbiContext {
  return contextOf(new WebAssembly.Instance(compile(`(module ${GUEST_BASICS})`)).exports, options);
}
