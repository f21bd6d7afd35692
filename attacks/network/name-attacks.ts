/**
 * Attacks with names, and how they are run in a network created for them.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { AttackRow } from '../runner/attack-row.ts';
import type { NetworkMode } from './attack.ts';

const run = promisify(execFile);
const RUN_MS = 60_000;

export interface NameAttack {
  name: string;
  description: string;
  /** Host of the only rule. */
  rule: string;
  /** Requested one after the other, in one call. */
  hosts: readonly string[];
  /** The public address is treated as another machine's, as it would be outside the namespace. */
  isElsewhere?: boolean;
  /** Whether reaching the server with the public address counts as harm, or the one at home. */
  isHarm: (place: string) => boolean;
}

/** What the program in the namespace reports. */
export interface NameRow {
  name: string;
  description: string;
  works: boolean;
  harm: string[];
  denied: string[];
  evidence: string;
}

const isHome = (place: string): boolean => place === 'home';
const isAny = (): boolean => true;

export const NAME_ATTACKS: readonly NameAttack[] = [
  {
    name: 'net_rebinding',
    description: 'Uses a name that is public when it is checked and resolves to the host when it is used.',
    rule: 'rebind.test',
    hosts: ['rebind.test', 'rebind.test', 'rebind.test'],
    isHarm: isHome,
  },
  {
    name: 'net_rebinding_in_wildcard',
    description: 'The same for a name that a pattern covers.',
    rule: '*.test',
    hosts: ['rebind.test', 'rebind.test'],
    isHarm: isHome,
  },
  {
    name: 'net_host_below',
    description: 'Uses a subdomain of the declared name.',
    rule: 'api.test',
    hosts: ['below.api.test'],
    isHarm: isAny,
  },
  {
    name: 'net_host_beside',
    description: 'Uses a name that ends like the declared one.',
    rule: 'api.test',
    hosts: ['evilapi.test'],
    isHarm: isAny,
  },
  {
    name: 'net_host_in_front',
    description: 'Prefixes its own name with the declared one.',
    rule: 'api.test',
    hosts: ['api.test.evil.test'],
    isHarm: isAny,
  },
  {
    name: 'net_host_coded',
    description:
      'Spells the declared name with percent signs, in full-width letters, and with a trailing dot.',
    rule: 'api.test',
    hosts: ['%61pi.test', 'ａpi.test', 'api.test.'],
    isHarm: isAny,
  },
  {
    name: 'net_own_public_address',
    description: "Uses a name that resolves to the machine's own public address.",
    rule: 'mine.test',
    hosts: ['mine.test'],
    isElsewhere: false,
    isHarm: isAny,
  },
  {
    name: 'net_host_above_wildcard',
    description: 'Uses the bare domain of a pattern, with an empty label in front.',
    rule: '*.api.test',
    hosts: ['.api.test'],
    isHarm: isAny,
  },
];

/** In namespaces that end with the program. */
export async function runNameAttacks(mode: NetworkMode): Promise<AttackRow[]> {
  const program = join(import.meta.dirname, `names${extname(import.meta.filename)}`);
  const namespaces = ['--user', '--map-root-user', '--net', '--pid', '--fork', '--kill-child'];
  const args = [...namespaces, process.execPath, program, mode];
  const { stdout } = await run('/usr/bin/unshare', args, { timeout: RUN_MS });
  return (JSON.parse(stdout) as NameRow[]).map(asRow);
}

function asRow({ name, description, works, harm, denied, evidence }: NameRow): AttackRow {
  const ran = denied.length > 0 || evidence !== '';
  return {
    corpus: 'network',
    name,
    description,
    control: works ? 'works' : 'inconclusive',
    controlEvidence: works ? 'a careless gateway went there' : 'a careless gateway did not go there',
    code: denied.length > 0 ? 'capability_denied' : 'ok',
    ran,
    stopped: ran && harm.length === 0,
    evidence: harm.length > 0 ? `went ${harm.join(', ')}` : denied.join(', ') || evidence,
  };
}
