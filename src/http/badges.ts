/**
 * Short labels for what a skill can do, for lists. The page of the skill has full sentences.
 *
 * @module
 */
import type { Manifest } from '../inside.ts';
import { RISKS } from '../vocabulary/risks.ts';
import type { Badge } from '../web/types.ts';

/** The riskiest come first. */
export function badgesFor(manifest: Manifest): Badge[] {
  const { filesystem, network } = manifest.capabilities;
  const outside = filesystem.filter(({ path }) => path.startsWith('/') || path.startsWith('${'));
  const writes = outside.some(({ access }) => access === 'read-write');
  const badges: (Badge | false)[] = [
    writes && { risk: 'high', label: 'writes files' },
    outside.length > 0 && !writes && { risk: 'medium', label: 'reads files' },
    ...network.map(({ host }): Badge => ({
      risk: host.startsWith('*.') ? 'high' : 'medium',
      label: `connects to ${host}`,
    })),
    ...Object.entries(manifest.env).map(([name, { secret }]): Badge =>
      secret ? { risk: 'high', label: `uses secret ${name}` } : { risk: 'medium', label: `reads ${name}` },
    ),
    Boolean(manifest.limits.processes) && { risk: 'medium', label: 'starts programs' },
    manifest.container !== undefined && { risk: 'medium', label: 'runs its own image' },
  ];
  const found = badges.filter((badge) => badge !== false);
  found.sort((a, b) => RISKS.indexOf(a.risk) - RISKS.indexOf(b.risk));
  return found.length > 0 ? found : [{ risk: 'low', label: 'no files, no network' }];
}
