/** Evaluates strings as code, to reach globals of the host. */
import { powers } from './powers.js';

export async function execute(params) {
  const worlds = [
    (0, eval)('globalThis'),
    new Function('return this')(),
    Function.prototype.constructor('return this')(),
  ];
  const made = await Object.getPrototypeOf(async () => {}).constructor('return globalThis')();
  const found = [...worlds, made].flatMap(powers);
  return { succeeded: found.length > 0, evidence: found.join() };
}
