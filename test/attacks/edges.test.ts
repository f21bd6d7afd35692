/**
 * Every attack on the edges, commands and services, is stopped and gets the answer it must get.
 *
 * @module
 */
import { EDGE_ATTACKS } from '../../attacks/edges/corpus.ts';
import { itStops, suiteHome } from './suite.ts';

itStops({ mode: 'edges', attacks: EDGE_ATTACKS, home: suiteHome(), runtime: { audit: false } });
