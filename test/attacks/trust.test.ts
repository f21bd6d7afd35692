/**
 * Every attack on trust is stopped and gets the answer it must get.
 *
 * @module
 */
import { TRUST_ATTACKS } from '../../attacks/trust/corpus.ts';
import { itStops, suiteHome } from './suite.ts';

itStops({ mode: 'trust', attacks: TRUST_ATTACKS, home: suiteHome(), runtime: { audit: false } });
