/**
 * The cell contract, with processes that were started ahead of their call.
 *
 * @module
 */
import { warmedContract } from './warmed-contract.ts';

warmedContract('a pooled cell', 'pool');
