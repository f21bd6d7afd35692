/**
 * Describes skills to a model that writes a program: what it can call, with which parameters, and what comes back.
 *
 * @module
 */
import type { Skill } from '../../load/skill.ts';
import type { TypingLanguage } from '../../vocabulary/typing-languages.ts';
import type { Callable } from './contract.ts';
import { pythonTypings } from './python.ts';
import { typescriptTypings } from './typescript.ts';

const WRITERS: { readonly [Language in TypingLanguage]: (callables: readonly Callable[]) => string } = {
  typescript: typescriptTypings,
  python: pythonTypings,
};

/** The declarations of these functions, sorted by name. */
export function typingsOf(language: TypingLanguage, callables: readonly Callable[]): string {
  return WRITERS[language](callables.toSorted((one, other) => (one.name < other.name ? -1 : 1)));
}

/** What a program sees of a skill. */
export function callableOf({ bundle }: Pick<Skill, 'bundle'>): Callable {
  const { name, description, parameters, outputs } = bundle.manifest;
  return { name, description, parameters, outputs };
}
