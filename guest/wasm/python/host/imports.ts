/**
 * The complete import object of the engine. A system call that is not listed here does not exist; any other unlisted
 * import leads to JavaScript, and using it ends the guest.
 *
 * @module
 */
import { calendarCalls } from './calendar.ts';
import type { Context, ImportFunctions } from './context.ts';
import { CARDS_IMPORT } from '../engine/mark-stores.ts';
import { descriptorCalls } from './descriptor-calls.ts';
import { ERRNO } from './errno.ts';
import { pathCalls } from './path-calls.ts';
import { socketCalls } from './socket-calls.ts';
import { systemCalls } from './system-calls.ts';

const OWN_MODULES: ReadonlySet<string> = new Set(['env', 'wasi_snapshot_preview1']);

/** The guest tried to reach JavaScript. */
class BridgeTrap extends Error {}

/** Records that a bridge was used, because the guest's code could catch the exception and continue. */
export class BridgeAlarm {
  #touched: string | undefined;

  get touched(): string | undefined {
    return this.#touched;
  }

  stub(name: string): () => never {
    return () => {
      this.#touched ??= name;
      throw new BridgeTrap(`The engine has no ${name}`);
    };
  }

  /** Ends a guest that caught the exception of a bridge. */
  check(): void {
    if (this.#touched !== undefined) throw new BridgeTrap(`The engine has no ${this.#touched}`);
  }

  reset(): void {
    this.#touched = undefined;
  }
}

export function engineImports(
  module: WebAssembly.Module,
  context: Context,
  alarm: BridgeAlarm,
): WebAssembly.Imports {
  const known: ImportFunctions = {
    ...systemCalls(context),
    ...calendarCalls(context),
    ...descriptorCalls(context),
    ...pathCalls(context),
    ...socketCalls(context),
  };
  const imports: WebAssembly.Imports = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    const group = (imports[from] ??= {});
    if (kind === 'memory')
      group[name] = name === CARDS_IMPORT.name ? context.memory.cards?.memory : context.memory.memory;
    // Addresses of functions for side modules; there are none.
    else if (kind === 'global') group[name] = new WebAssembly.Global({ value: 'i32', mutable: true }, 0);
    else group[name] = functionFor(name, { from, known, alarm });
  }
  return imports;
}

interface FunctionSource {
  from: string;
  known: ImportFunctions;
  alarm: BridgeAlarm;
}

function functionFor(name: string, { from, known, alarm }: FunctionSource): unknown {
  if (!OWN_MODULES.has(from)) throw new Error(`The engine imports from "${from}"`);
  if (Object.hasOwn(known, name)) return known[name];
  if (from === 'wasi_snapshot_preview1') return () => ERRNO.NOSYS;
  return name.startsWith('__syscall_') ? () => -ERRNO.NOSYS : alarm.stub(name);
}
