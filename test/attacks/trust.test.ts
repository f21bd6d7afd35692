/**
 * Every attack on trust is stopped and gets the answer it must get.
 *
 * @module
 */
import { TRUST_ATTACKS } from '../../attacks/trust/corpus.ts';
import { stopsAll } from './stops-all.ts';

stopsAll('the attacks on trust', 'trust', TRUST_ATTACKS);
