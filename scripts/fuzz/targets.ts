/**
 * Everything that is fuzzed. A new target is one file with a `fuzzTarget` and one row here; the suite and the command use
 * this list.
 *
 * @module
 */
import { clusterBundleTarget, messagesTarget } from './cluster.ts';
import { framesTarget } from './frames.ts';
import { manifestTarget } from './manifest.ts';
import { policyTarget } from './policy.ts';
import { savedImageTarget, tarTarget } from './archives.ts';
import type { FuzzTarget } from './target.ts';
import { upstreamTarget } from './upstream.ts';
import { behaviourTarget } from './wasm/behaviour.ts';
import { installTarget } from './wasm/install.ts';
import { linkTarget } from './wasm/link.ts';
import { wheelTarget } from './wheels.ts';
import { yamlTarget } from './yaml.ts';

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  // Modules and components: parser and rewriter, linker, metered against original.
  installTarget,
  linkTarget,
  behaviourTarget,
  // Layers of images, and the archives that engines save.
  tarTarget,
  savedImageTarget,
  // Packages, which are zip files.
  wheelTarget,
  // Responses of servers, through the real gateway.
  upstreamTarget,
  // Messages of a cluster, and bundles that travel through it.
  messagesTarget,
  clusterBundleTarget,
  // Output of cells, and contents of bundles and projects.
  framesTarget,
  manifestTarget,
  policyTarget,
  yamlTarget,
];
