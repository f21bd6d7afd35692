/**
 * What a skill can do, in a few words each, for lists. The whole sentences are on its page.
 *
 * @module
 */
import type { Manifest } from '../index.ts';

export interface Badge {
  risk: 'high' | 'medium' | 'low';
  label: string;
}

const ORDER: readonly Badge['risk'][] = ['high', 'medium', 'low'];

/** The riskiest come first. */
export function badgesFor(manifest: Manifest): Badge[] {
  const { filesystem, network } = manifest.capabilities;
  const outside = filesystem.filter(({ path }) => path.startsWith('/') || path.startsWith('${'));
  const writes = outside.some(({ access }) => access === 'read-write');
  const badges: (Badge | false)[] = [
    writes && { risk: 'high', label: 'changes files' },
    outside.length > 0 && !writes && { risk: 'medium', label: 'reads files' },
    ...network.map(({ host }): Badge => ({
      risk: host.startsWith('*.') ? 'high' : 'medium',
      label: `talks to ${host}`,
    })),
    ...Object.entries(manifest.env).map(([name, { secret }]): Badge =>
      secret ? { risk: 'high', label: `uses secret ${name}` } : { risk: 'medium', label: `sees ${name}` },
    ),
    Boolean(manifest.limits.processes) && { risk: 'medium', label: 'starts programs' },
    manifest.container !== undefined && { risk: 'medium', label: 'brings its own system' },
  ];
  const found = badges.filter((badge) => badge !== false);
  found.sort((a, b) => ORDER.indexOf(a.risk) - ORDER.indexOf(b.risk));
  return found.length > 0 ? found : [{ risk: 'low', label: 'no files, no network' }];
}
