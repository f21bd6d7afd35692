/**
 * `skillcell:env`, as in a Wasm cell.
 *
 * @module
 */
export { requireEnv } from './env-watch.ts';

export const env: Record<string, string | undefined> = process.env;
