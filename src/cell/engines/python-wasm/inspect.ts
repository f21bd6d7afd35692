/**
 * Static inspection of Python source without a jail or a system Python: the same code runs in a Wasm cell.
 *
 * @module
 */
import { basename } from 'node:path';
import type { Bundle } from '../../../load/bundle.ts';
import type { Artifact, CallBroker, LaunchSpec, Wall } from '../../contract.ts';
import { NEW_MEMORY_ONLY } from '../../../policy/python-freshness.ts';
import { INSPECT_GRANT, type Inspector } from '../python/inspect.ts';
import { callWarmOnce } from '../../protocol/start-warm.ts';
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
    // The bundle does not exist before inspection, and only the broker would read it.
    bundle: {} as Bundle,
    spec: () => spec,
    init: (grant) => ({
      ...cellLimits(grant),
      fresh: NEW_MEMORY_ONLY,
      keepBytes: 0,
      preopens: [],
      harness: { task: 'inspect', env: {} },
    }),
  };
}

const NO_BROKER: CallBroker = {
  used: [],
  denied: [],
  handle: () => Promise.reject(new Error('An inspection cell may not make requests')),
  close: () => undefined,
};
