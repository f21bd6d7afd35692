/**
 * `npm run check`: format, lint and types, to run between edits.
 *
 * @module
 */
import { passes, STATIC_STEPS } from './steps.ts';

process.exitCode = STATIC_STEPS.map(passes).every(Boolean) ? 0 : 1;
