/**
 * What the Python harness has to know about a call, the same in both Python engines.
 *
 * @module
 */
import type { HarnessInit } from '../../../../guest/protocol.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { Grant } from '../../../policy/grant.ts';

export function harnessInit({ manifest, entry }: Bundle, grant: Grant): HarnessInit {
  return {
    task: 'call',
    entry,
    ...(grant.skills ? { skills: true } : {}),
    view: {
      read: grant.filesystem.filter((path) => path.access === 'read').map((path) => path.guest),
      write: grant.filesystem.filter((path) => path.access === 'read-write').map((path) => path.guest),
      processes: grant.limits.processes > 0,
      env: Object.keys(manifest.env),
      observe: grant.observe !== undefined,
    },
    manifest: {
      ...manifest.extra,
      name: manifest.name,
      version: manifest.version,
      description: manifest.description,
      parameters: manifest.parameters,
      outputs: manifest.outputs,
      requirements: manifest.requirements,
    },
  };
}
