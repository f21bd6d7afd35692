/**
 * YAML derived from a seed: mutated files, and documents assembled from pieces that parsers find difficult.
 *
 * @module
 */
import { mutant, pick, randomOf, type Random } from './random.ts';

const BYTES = [
  0x00, 0x09, 0x0a, 0x20, 0x22, 0x23, 0x26, 0x27, 0x2a, 0x2d, 0x3a, 0x3c, 0x5b, 0x7b, 0x7c, 0xff,
];
const RUNS = [
  '&a [*a,*a]',
  '<<: *a',
  '!!binary ',
  '? ',
  '---\n',
  '%YAML 1.1\n',
  '__proto__: 1\n',
  '\u2028',
  '1e999',
  '{{{{[[[[',
];
const PIECES = [
  'a: ',
  '- ',
  '{',
  '}',
  '[',
  ']',
  ', ',
  '\n',
  '  ',
  '&x ',
  '*x',
  '| \n',
  '> \n',
  '"',
  "'",
  '#',
  '? ',
  '!!str ',
  'null',
  '0o7',
  '~',
];
const WORDS = { bytes: BYTES, runs: RUNS.map((text) => Array.from(Buffer.from(text))) };

/** Two in three are mutants of the corpus. */
export function yamlText(seed: number, corpus: readonly string[]): string {
  const random = randomOf(seed);
  if (random(3) === 0) return pieces(random, corpus);
  const bytes = mutant({ corpus: corpus.map((text) => Buffer.from(text)), seed, ...WORDS });
  return Buffer.from(bytes).toString('utf8');
}

function pieces(random: Random, corpus: readonly string[]): string {
  const made = Array.from({ length: random(60) }, () => pick(random, PIECES)).join('');
  const [head = ''] = pick(random, corpus).split('\n\n');
  return random(2) === 0 ? made : `${head}\n${made}`;
}
