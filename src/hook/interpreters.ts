/**
 * Where the code of an interpreter comes from, by its arguments.
 *
 * @module
 */
import type { Interpreter } from './programs.ts';

/** The script or code word has this position among the words of the command. */
export type Source =
  | { from: 'file'; at: number }
  | { from: 'module'; at: number }
  | { from: 'code'; at: number }
  | { from: 'attached'; text: string }
  | { from: 'input' }
  | { from: 'nothing' }
  | { from: 'unclear' };

/** Undefined words are computed by the shell. */
type Words = readonly (string | undefined)[];

interface Options {
  /** Options without a value. */
  flags: RegExp;
  /** Options whose value is the next word. */
  valued: RegExp;
  /** Options after which nothing runs. */
  harmless: RegExp;
  code: RegExp;
  module?: RegExp;
  /** Code or a module in the same word as its option. */
  attached?: RegExp;
}

const PYTHON: Options = {
  flags: /^-[uBEIOsSvqbdPxR]+$/,
  valued: /^-[WX]$/,
  harmless: /^(?:-V|-VV|--version|-h|--help)$/,
  code: /^-[uBEIOsSvqbdPx]*c$/,
  module: /^-[uBEIOsSvqbdPx]*m$/,
  attached: /^-[uBEIOsSvqbdPxi]*[mc]([^]+)$/,
};
const NODE: Options = {
  flags:
    /^--(?:no-warnings|enable-source-maps|trace-warnings|experimental-strip-types|no-deprecation|trace-uncaught|max-old-space-size=\d+)$/,
  valued: /^$/,
  harmless: /^(?:-v|--version|-h|--help)$/,
  code: /^(?:-e|--eval|-p|--print|-pe)$/,
};
const SHELL: Options = {
  flags: /^[-+][euxvlaibmnprfhkBCEHPT]+$|^--(?:norc|noprofile|login|posix)$/,
  valued: /^[-+][euxvfl]*[oO]$/,
  harmless: /^(?:--version|--help)$/,
  code: /^-[euxvliabf]*c[euxl]*$/,
};
const TABLES: Readonly<Record<Exclude<Interpreter, 'interpreter'>, Options>> = {
  python: PYTHON,
  node: NODE,
  shell: SHELL,
};

export function sourceOf(kind: Interpreter, words: Words): Source {
  if (kind === 'interpreter') {
    if (words.length < 2) return { from: 'input' };
    return words[1]?.startsWith('-') === true ? { from: 'unclear' } : { from: 'file', at: 1 };
  }
  const { flags, valued, harmless, code, module, attached } = TABLES[kind];
  for (let at = 1; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) return { from: 'file', at };
    if (word === '-' || (kind === 'shell' && word === '-s')) return { from: 'input' };
    if (word === '--') return at + 1 < words.length ? { from: 'file', at: at + 1 } : { from: 'input' };
    if (!/^[-+]/.test(word)) return { from: 'file', at };
    if (harmless.test(word)) return { from: 'nothing' };
    if (code.test(word)) return { from: 'code', at: at + 1 };
    if (module?.test(word) === true) return { from: 'module', at: at + 1 };
    const [, text] = attached?.exec(word) ?? [];
    if (text !== undefined) return { from: 'attached', text };
    if (valued.test(word)) at++;
    else if (!flags.test(word)) return { from: 'unclear' };
  }
  return { from: 'input' };
}
