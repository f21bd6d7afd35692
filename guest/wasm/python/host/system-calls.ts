/**
 * Clock, randomness, environment, memory growth, and exit.
 *
 * @module
 */
import { loaderCalls } from '../dlopen/calls.ts';
import type { Context, ImportFunctions } from './context.ts';
import { ERRNO } from './errno.ts';
import { GUEST_ID } from './stat-record.ts';

const PAGE_BYTES = 65_536;
/** Numbers of the C library; every other number is CPU time. */
const CLOCK = { real: 0, monotonic: 1 } as const;
const REAL_STEP_NS = 1_000_000n;
const STEP_NS = 100_000n;
const NANOSECONDS_PER_MS = 1_000_000;
const EXIT_OF_ABORT = 134;

export function systemCalls(context: Context): ImportFunctions {
  const { memory, ports } = context;
  return {
    ...environmentCalls(context),
    random_get: (into: number, bytes: number) => (ports.random(memory.slice(into, bytes)), 0),
    clock_time_get: (clock: number, _precision: bigint, result: number) => {
      memory.setU64(result, BigInt(Math.round(readClock(context, clock) * NANOSECONDS_PER_MS)));
      return 0;
    },
    clock_res_get: (clock: number, result: number) => {
      memory.setU64(result, clock === CLOCK.real ? REAL_STEP_NS : STEP_NS);
      return 0;
    },
    emscripten_date_now: ports.now,
    emscripten_get_now: ports.elapsed,
    proc_exit: ports.exit,
    exit: ports.exit,
    _abort_js: () => ports.exit(EXIT_OF_ABORT),
    emscripten_get_heap_max: () => context.maxPages * PAGE_BYTES,
    emscripten_resize_heap: (bytes: number) => grow(context, bytes),
    __syscall_getuid32_js: () => GUEST_ID,
    __syscall_umask_js: (mask: number) => {
      const { process } = context;
      const before = process.mask;
      process.mask = mask & 0o777;
      return before;
    },
    _emscripten_get_progname: (into: number, bytes: number) => {
      if (bytes > 0) memory.slice(into, 1)[0] = 0;
    },
    _setitimer_js: () => 0,
    ...loaderCalls(memory, context.linked),
    // Programs and mappings do not exist.
    _emscripten_system: () => -ERRNO.NOSYS,
    _emscripten_lookup_name: () => 0,
    _mmap_js: () => -ERRNO.NOSYS,
    _munmap_js: () => -ERRNO.NOSYS,
    _msync_js: () => -ERRNO.NOSYS,
    // Called by constructors and on every call; they have nothing to do here.
    _Py_emscripten_runtime: () => 0,
    _Py_CheckEmscriptenSignals_Helper: () => 0,
    __hiwire_deduplicate_new: () => null,
    emscripten_runtime_keepalive_push: () => undefined,
    emscripten_runtime_keepalive_pop: () => undefined,
    _emscripten_runtime_keepalive_clear: () => undefined,
  };
}

/** Milliseconds. */
function readClock({ ports }: Context, clock: number): number {
  if (clock === CLOCK.real) return ports.now();
  return clock === CLOCK.monotonic ? ports.elapsed() : ports.worked();
}

function environmentCalls({ memory, env }: Context): ImportFunctions {
  const entries = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const bytesOf = (text: string): number => new TextEncoder().encode(text).length + 1;
  return {
    environ_sizes_get: (count: number, bytes: number) => {
      memory.setU32(count, entries.length);
      memory.setU32(
        bytes,
        entries.reduce((sum, entry) => sum + bytesOf(entry), 0),
      );
      return 0;
    },
    environ_get: (pointers: number, texts: number) => {
      let at = texts;
      for (const [index, entry] of entries.entries()) {
        memory.setU32(pointers + 4 * index, at);
        at += memory.setText(at, entry);
      }
      return 0;
    },
  };
}

/** The only way memory grows, because the module has no instruction for it. */
function grow({ memory, maxPages }: Context, bytes: number): number {
  const wanted = Math.ceil((bytes >>> 0) / PAGE_BYTES);
  const missing = wanted - memory.memory.buffer.byteLength / PAGE_BYTES;
  if (wanted > maxPages) return 0;
  try {
    if (missing > 0) memory.memory.grow(missing);
    return 1;
  } catch {
    return 0;
  }
}
