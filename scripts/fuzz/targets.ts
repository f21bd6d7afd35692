/**
 * Everything that is fuzzed. A new target is one file with a `fuzzTarget` and one row here; the suite and the command take
 * it from this list.
 *
 * @module
 */
import type { FuzzTarget } from './target.ts';
import { upstreamTarget } from './upstream.ts';
import { behaviourTarget } from './wasm/behaviour.ts';
import { installTarget } from './wasm/install.ts';
import { linkTarget } from './wasm/link.ts';

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  // Modules and components: parser and rewriter, linker, metered against original.
  installTarget,
  linkTarget,
  behaviourTarget,
  // Answers of servers, through the real gateway.
  upstreamTarget,
];
