/**
 * The cell contract, with processes forked from a zygote.
 *
 * @module
 */
import { warmedContract } from './warmed-contract.ts';

warmedContract('a forked cell', 'zygote', { ready: 'zygote' });
