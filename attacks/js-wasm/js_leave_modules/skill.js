/** Changes the objects of an imported module for the next call. */
import { shared } from './shared.js';

export async function execute(params) {
  const before = shared.planted;
  shared.planted = params.call_secret;
  return { succeeded: before !== undefined, evidence: String(before) };
}
