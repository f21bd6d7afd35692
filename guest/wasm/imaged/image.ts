/**
 * The state of core instances at one moment, such as right after their start: bytes of memories and values of globals.
 * Only for modules that have no other state, as determined by the installer.
 *
 * @module
 */
import type { ModuleState } from '../contract.ts';
import { layParts, takeParts, type ImagePart } from './memory.ts';

/** Where the state of one instance is; undefined if some of it is out of reach. */
interface Stateful {
  state: ModuleState | undefined;
}

/** What an instance can change, in the order of the plan. */
interface State {
  memories: WebAssembly.Memory[];
  globals: WebAssembly.Global[];
}

export class Image {
  readonly #memories: { parts: ImagePart[]; size: number }[];
  readonly #globals: (number | bigint)[];

  private constructor({ memories, globals }: State, parts: readonly ImagePart[][]) {
    this.#memories = memories.map(({ buffer }, at) => ({ parts: parts[at] ?? [], size: buffer.byteLength }));
    this.#globals = globals.map(({ value }) => value);
  }

  /** Undefined if an instance may have state that is out of reach, or has too much of it. */
  static of(steps: readonly Stateful[], exports: readonly WebAssembly.Exports[]): Image | undefined {
    const state = stateOf(steps, exports);
    const parts = state && takeParts(state.memories.map(({ buffer }) => new Uint8Array(buffer)));
    return state && parts && new Image(state, parts);
  }

  /** Frees its memory at once instead of with some later garbage collection. It cannot be restored any more. */
  release(): void {
    for (const { parts } of this.#memories) for (const { bytes } of parts) bytes.buffer.transfer(0);
    this.#memories.length = 0;
  }

  /** Restores this state in the same or other instances of the same plan. False if they are too large. */
  restore(steps: readonly Stateful[], exports: readonly WebAssembly.Exports[]): boolean {
    const state = stateOf(steps, exports);
    // A memory never shrinks, and a guest can query its size.
    if (!state || state.memories.some(({ buffer }, at) => buffer.byteLength !== this.#memories[at]?.size))
      return false;
    for (const [at, { buffer }] of state.memories.entries())
      layParts(new Uint8Array(buffer), this.#memories[at]?.parts ?? []);
    for (const [at, global] of state.globals.entries()) global.value = this.#globals[at] as number | bigint;
    return true;
  }
}

function stateOf(steps: readonly Stateful[], exports: readonly WebAssembly.Exports[]): State | undefined {
  const found: State = { memories: [], globals: [] };
  for (const [at, { state }] of steps.entries()) {
    const own = exports[at];
    if (!state || !own) return undefined;
    for (const name of state.memories) found.memories.push(own[name] as WebAssembly.Memory);
    for (const name of state.globals) found.globals.push(own[name] as WebAssembly.Global);
  }
  return found;
}
