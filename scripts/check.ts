/**
 * `npm run check`: format, lint and types, for the loop between two edits.
 *
 * @module
 */
import { passes, STATIC_STEPS } from './steps.ts';

process.exitCode = STATIC_STEPS.map(passes).every(Boolean) ? 0 : 1;
