/**
 * How many attacks of each corpus have a control that works. Attacks may be added and none may lose its control: tests
 * compare, so a change that takes one away has to change a number here.
 *
 * @module
 */
import { EDGE_ATTACKS } from '../edges/corpus.ts';
import { NAME_ATTACKS } from '../network/name-attacks.ts';
import type { TrustAttack } from '../trust/attack.ts';
import { TRUST_ATTACKS } from '../trust/corpus.ts';
import { WASM_ATTACKS } from '../wasm/corpus.ts';
import type { CorpusName } from './attack-row.ts';
import { ATTACKS } from './expectations.ts';
import { JS_ATTACKS } from './js-expectations.ts';
import { PATH_TRICKS } from './path-tricks.ts';
import { PYTHON_ATTACKS } from './python-expectations.ts';
import { NETWORK_ATTACKS } from './run-network.ts';

export const LEAST_CONTROLS: Readonly<Record<CorpusName, number>> = {
  subprocess: 240,
  container: 228,
  wasm: 113,
  'python-wasm': 95,
  'js-wasm': 73,
  network: 75,
  trust: 83,
  edges: 18,
};

/** The attacks that say how they are shown to work; each suite sees that they really are. */
export function declaredControls(): Record<CorpusName, number> {
  const judged = (attacks: readonly { control: object }[]): number =>
    attacks.filter(({ control }) => 'judge' in control).length;
  const careless = (attacks: readonly TrustAttack[]): number =>
    attacks.filter(({ control }) => typeof control === 'function').length;
  return {
    subprocess: ATTACKS.length + PATH_TRICKS.length,
    container: ATTACKS.length,
    wasm: judged(WASM_ATTACKS),
    'python-wasm': judged(PYTHON_ATTACKS),
    'js-wasm': judged(JS_ATTACKS),
    network:
      NETWORK_ATTACKS.filter(({ control }) => typeof control === 'string').length + NAME_ATTACKS.length,
    trust: careless(TRUST_ATTACKS),
    edges: careless(EDGE_ATTACKS),
  };
}
