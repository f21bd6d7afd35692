/**
 * Static inspection of Python source where there is no jail or no system Python: by the same code, in a Wasm cell.
 *
 * @module
 */
import { basename } from 'node:path';
import type { Bundle } from '../../load/bundle.ts';
import type { Artifact, CallBroker, LaunchSpec, Wall } from '../contract.ts';
import { MEMORY_ALONE } from '../../policy/python-freshness.ts';
import { INSPECT_GRANT, type Inspector } from '../python/inspect.ts';
import { callWarmOnce } from '../warm-set.ts';
import { cellLimits, type PythonWasmEngine } from './engine.ts';

export function wasmInspector(engine: PythonWasmEngine, wall: Wall): Inspector {
  return {
    async key(stagedDir) {
      return `${basename(stagedDir)}-wasm-${(await engine.images()).version}`;
    },
    async run(stagedDir, files) {
      const images = await engine.images();
      const { base: image } = images.take();
      const artifact = inspection(engine.cellSpec(images)({ image, bundle: stagedDir }));
      const place = { wall, engine, artifact, grant: INSPECT_GRANT, openBroker: () => NO_BROKER };
      return callWarmOnce(place, { params: { files } });
    },
  };
}

function inspection(spec: LaunchSpec): Artifact {
  return {
    engine: 'python-wasm',
    // There is none yet: inspection is a step on the way to it, and only the broker would look at it.
    bundle: {} as Bundle,
    spec: () => spec,
    init: (grant) => ({
      ...cellLimits(grant),
      fresh: MEMORY_ALONE,
      keepBytes: 0,
      preopens: [],
      harness: { task: 'inspect', env: {} },
    }),
  };
}

const NO_BROKER: CallBroker = {
  used: [],
  denied: [],
  handle: () => Promise.reject(new Error('Source that is only read asks for nothing')),
  close: () => undefined,
};
