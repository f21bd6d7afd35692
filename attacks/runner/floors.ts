/**
 * The number of attacks in each corpus that have a working control. Attacks may be added, and none may lose its control:
 * tests compare, so a change that removes one has to change a number here.
 *
 * @module
 */
import { EDGE_ATTACKS } from '../edges/corpus.ts';
import { NAME_ATTACKS } from '../network/name-attacks.ts';
import { TRUST_ATTACKS } from '../trust/corpus.ts';
import { WASM_ATTACKS } from '../wasm/corpus.ts';
import { hasControl, type Attack } from './attack.ts';
import type { CorpusName } from './attack-row.ts';
import { JS_ATTACKS } from './js-attacks.ts';
import { PATH_TRICKS } from './path-tricks.ts';
import { PYTHON_ATTACKS } from './python-attacks.ts';
import { NETWORK_ATTACKS } from './run-network.ts';
import { SUBPROCESS_ATTACKS } from './subprocess-attacks.ts';

export const LEAST_CONTROLS: Readonly<Record<CorpusName, number>> = {
  subprocess: 240,
  container: 228,
  wasm: 113,
  'python-wasm': 100,
  'js-wasm': 73,
  network: 75,
  trust: 187,
  edges: 18,
};

/** The attacks that have a control; each suite checks that they really work. */
export function declaredControls(): Record<CorpusName, number> {
  const count = (attacks: readonly Attack<unknown>[]): number => attacks.filter(hasControl).length;
  return {
    subprocess: count([...SUBPROCESS_ATTACKS, ...PATH_TRICKS]),
    container: count(SUBPROCESS_ATTACKS),
    wasm: count(WASM_ATTACKS),
    'python-wasm': count(PYTHON_ATTACKS),
    'js-wasm': count(JS_ATTACKS),
    network: count(NETWORK_ATTACKS) + NAME_ATTACKS.length,
    trust: count(TRUST_ATTACKS),
    edges: count(EDGE_ATTACKS),
  };
}
