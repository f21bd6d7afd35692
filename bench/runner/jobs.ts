/**
 * The jobs: the same work for every variant.
 *
 * @module
 */
import { join } from 'node:path';
import { packageRoot } from '../../src/inside.ts';

export interface Job {
  name: string;
  /** Folder of the skill; its `skill.py` has a function `execute(params)`. */
  dir: string;
  params: Record<string, unknown>;
}

export const TEXT: string =
  'Hello there, could you please kindly take a look at the following report and, in order to save time, ' +
  'summarize the most important points for me? It is really very important that nothing is left out.';

/** As little work as a skill can do, so that the overhead is measured. */
export const ECHO_WORDS: Job = {
  name: 'bench/skills/echo_words',
  dir: join(packageRoot(), 'bench', 'skills', 'echo_words'),
  params: { text: TEXT },
};

/** A real skill, with modules to load and patterns to compile. */
export const PROMPT_REWRITER: Job = {
  name: 'skills/optimization/prompt_rewriter',
  dir: join(packageRoot(), 'skills', 'optimization', 'prompt_rewriter'),
  params: { raw_text: TEXT, compression_aggression: 'high' },
};
