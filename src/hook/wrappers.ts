/**
 * Programs that run the command in their arguments: `env`, `timeout`, `xargs` and the like.
 *
 * @module
 */

type Words = readonly (string | undefined)[];

interface Wrapper {
  /** Options without a value, or with the value in the same word. */
  flags: RegExp;
  /** Options whose value is the next word. */
  valued?: RegExp;
  /** Words between the options and the command. */
  operands?: number;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env: {
    flags: /^(?:-i|-|--ignore-environment|-u\w+|--unset=\w+|[A-Za-z_]\w*=[^]*)$/,
    valued: /^(?:-u|--unset)$/,
  },
  command: { flags: /^-p$/ },
  builtin: { flags: /^$/ },
  exec: { flags: /^$/ },
  nohup: { flags: /^$/ },
  setsid: { flags: /^-[cfw]+$/ },
  time: { flags: /^-[pv]$/ },
  nice: { flags: /^(?:-n?-?\d+|--adjustment=-?\d+)$/, valued: /^-n$/ },
  ionice: { flags: /^-[cn]\d$|^-t$/, valued: /^-[cn]$/ },
  stdbuf: { flags: /^(?:-[ioe]\w+|--(?:input|output|error)=\w+)$/ },
  timeout: {
    flags: /^(?:--preserve-status|--foreground|-v|--verbose|-k\S+|-s\w+|--kill-after=\S+|--signal=\w+)$/,
    valued: /^-[ks]$/,
    operands: 1,
  },
  xargs: {
    flags:
      /^(?:-[0rtxp]+|-[nPLs]\d+|-I(?:\{\}|%)|-d\S+|--(?:null|no-run-if-empty|verbose)|--(?:max-args|max-procs|max-lines)=\d+)$/,
    valued: /^-[nPLsdaI]$/,
  },
};

/** The position of the wrapped command, `none` if there is no command, `unclear` if an option is not known. */
export function wrappedAt(name: string, words: Words): number | 'none' | 'unclear' | undefined {
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper === undefined) return undefined;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) return 'unclear';
    if (word === '--') {
      at++;
      break;
    }
    if (wrapper.valued?.test(word) === true) at++;
    else if (!word.startsWith('-') && !(name === 'env' && word.includes('='))) break;
    else if (!wrapper.flags.test(word)) return 'unclear';
  }
  at += wrapper.operands ?? 0;
  return at < words.length ? at : 'none';
}

/** What `xargs -I` replaces; undefined if it appends. */
export function replacedByXargs(words: Words): string | undefined {
  for (const [at, word] of words.entries()) {
    if (word === '-I') return words[at + 1] ?? '';
    if (word?.startsWith('-I') === true) return word.slice(2);
    if (at > 0 && word?.startsWith('-') !== true) break;
  }
  return undefined;
}

/** Whether `xargs` appends to a command, or replaces something in these words of it. */
export function isFilled(replaced: string | undefined, words: Words): boolean {
  if (replaced === undefined || replaced === '') return replaced === '';
  return words.some((word) => word?.includes(replaced) !== false);
}
