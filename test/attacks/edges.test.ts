/**
 * Every attack on the edges, commands and services, is stopped and gets the answer it must get.
 *
 * @module
 */
import { EDGE_ATTACKS } from '../../attacks/edges/corpus.ts';
import { stopsAll } from './stops-all.ts';

stopsAll('the attacks on the edges', 'edges', EDGE_ATTACKS);
