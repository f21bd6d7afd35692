/**
 * Converts property names to the characters that a provider accepts.
 *
 * @module
 */
import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const DIGEST_LENGTH = 16;

/** Maps each name to a unique, accepted spelling. */
export function providerNames(names: readonly string[], accepted: RegExp | undefined): Map<string, string> {
  const spelled = new Map(
    names.filter((name) => !accepted || accepted.test(name)).map((name) => [name, name]),
  );
  const used = new Set(spelled.values());
  for (const name of names) {
    if (spelled.has(name)) continue;
    const plain = name.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d|$)/, '_');
    const spelling = plain.length > MAX_LENGTH || used.has(plain) ? distinct(plain, name) : plain;
    spelled.set(name, spelling);
    used.add(spelling);
  }
  return spelled;
}

function distinct(plain: string, name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  return `${plain.slice(0, MAX_LENGTH - DIGEST_LENGTH - 1)}_${digest}`;
}
