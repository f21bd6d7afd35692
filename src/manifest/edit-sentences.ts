/**
 * Sentences that say how to change a YAML file, so that they can be followed word by word: which key of which file gets
 * which value. `test/fixes/apply.ts` follows them.
 *
 * @module
 */
import { shellWord } from './quote.ts';

/** Adds an item to a list, such as `capabilities.network`. */
export function addTo(key: string, file: string, value: string): string {
  return `Add to ${key} in ${JSON.stringify(file)}: ${value}.`;
}

/** Sets the whole value of a key. */
export function setIn(key: string, file: string, value: string): string {
  return `Set ${key} in ${JSON.stringify(file)}: ${value}.`;
}

/** Raises a limit; how far depends on the work. */
export function raiseIn(key: string, file: string, above: string): string {
  return `Raise ${key} in ${JSON.stringify(file)} above ${above}.`;
}

/** A list of strings as YAML on one line. */
export function flowList(values: readonly string[]): string {
  return `[${[...new Set(values)].map((value) => JSON.stringify(value)).join(', ')}]`;
}

/** Points to the command that finds out what a call needs. */
export function recordSentence(
  dir: string,
  { options, environment = [] }: { options: string; environment?: readonly string[] },
): string {
  const command = ['skillcell record', shellWord(dir), options, '--write'].filter(Boolean).join(' ');
  const and = environment.length === 0 ? '' : ` and ${environment.join(', ')} in the environment`;
  return `Run \`${command}\` with the same parameters${and}: it makes the call and adds exactly what it needed to the manifest.`;
}
