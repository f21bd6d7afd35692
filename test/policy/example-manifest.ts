/**
 * A manifest that asks for nothing, which the policy tests extend.
 *
 * @module
 */
import type { Manifest } from '../../src/manifest/manifest.ts';

export function exampleManifest(over: Partial<Manifest> = {}): Manifest {
  return {
    name: 'test/example',
    version: '1.0.0',
    description: 'A skill that asks for nothing.',
    parameters: { type: 'object' },
    outputs: {},
    requirements: [],
    execution: [],
    env: {},
    capabilities: { filesystem: [], network: [], syscalls: 'default' },
    declaresCapabilities: true,
    limits: {},
    extra: {},
    ...over,
  };
}

/** The same with only `capabilities` changed. */
export function capableManifest(capabilities: Partial<Manifest['capabilities']>): Manifest {
  const manifest = exampleManifest();
  return { ...manifest, capabilities: { ...manifest.capabilities, ...capabilities } };
}
