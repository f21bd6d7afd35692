/**
 * What programs do with their arguments, as far as the hook knows them. A program that is not listed is unknown: it may not
 * get a script of a skill.
 *
 * @module
 */

/** Programs that only read, list, compare or delete files, or work on text. */
const READERS = new Set(
  `cat head tail less more ls tree grep egrep fgrep wc file stat du diff cmp md5sum shasum sha1sum sha256sum sha512sum cksum b2sum
  uniq cut tr nl od xxd hexdump strings basename dirname realpath readlink echo printf test [ pwd true false : mkdir touch rm rmdir
  chmod jq tac rev fold fmt column comm paste join sleep date which type whereis id whoami uname hostname exit return break continue
  wait kill tee export unset read shift umask ulimit jobs seq yes df ps`.split(/\s+/),
);
const GIT_READING = new Set(
  'add status diff log show blame rm ls-files ls-tree grep commit restore reset stash branch rev-parse cat-file check-ignore shortlog describe'.split(
    ' ',
  ),
);
/** Interpreters other than Python, Node and shells: `NAME FILE …`. */
const OTHER_INTERPRETERS = new Set('ruby perl php Rscript lua tsx ts-node pypy pypy3 julia tclsh'.split(' '));
/** Programs that run what they read, or pass it on to something that does. */
const RUN_THEIR_INPUT = new Set(
  'parallel at batch ssh docker podman busybox entr watch su sudo doas nsenter chroot'.split(' '),
);

/** Programs that take commands from files of any name. */
export const RUN_DATA: ReadonlySet<string> = new Set(
  'make gmake just ninja gdb lldb expect ansible-playbook vim vi emacs sqlite3 psql tmux screen crontab'.split(
    ' ',
  ),
);
/** What Node may add to the name of a script. */
export const ENDINGS: readonly string[] = ['.js', '.cjs', '.mjs', '/index.js'];
/** Builtins that change what a name of a command means. */
export const CHANGE_NAMES: ReadonlySet<string> = new Set('alias hash enable shopt bind'.split(' '));

/** Programs that run the code they are given; `interpreter` is any whose options are not known. */
export type Interpreter = 'python' | 'node' | 'shell' | 'interpreter';
export type ProgramKind = 'reader' | Interpreter | 'input-runner' | 'unknown';

export function kindOf(name: string): ProgramKind {
  if (READERS.has(name)) return 'reader';
  if (/^(?:python|pythonw|ipython)(?:\d+(?:\.\d+)*)?t?$/i.test(name)) return 'python';
  if (/^(?:node|nodejs)$/i.test(name)) return 'node';
  if (/^(?:ba|da|z|k|mk|a|fi|c|tc|r?ba)?sh$/i.test(name)) return 'shell';
  if (OTHER_INTERPRETERS.has(name)) return 'interpreter';
  return RUN_THEIR_INPUT.has(name) ? 'input-runner' : 'unknown';
}

/** Programs that read, but only with some arguments. */
export function readsOnly(name: string, args: readonly (string | undefined)[]): boolean {
  if (args.includes(undefined)) return false;
  const words = args.filter((word) => word !== undefined);
  if (name === 'git')
    return (
      GIT_READING.has(words[0] ?? '') &&
      !words.some((word) => /^--(?:ext|textc|exec|op)|^-[a-zA-Z]*O/.test(word))
    );
  if (name === 'rg')
    return !words.some((word) => word.startsWith('--pre') || word.startsWith('--hostname-bin'));
  // Programs take the beginning of an option for the option.
  if (name === 'sort') return !words.some((word) => word.startsWith('--co'));
  if (name === 'bat' || name === 'batcat') return !words.some((word) => word.startsWith('--pager'));
  if (name === 'find') return !words.some((word) => /^-(?:exec|ok)/.test(word));
  // `sed` can run commands: only printing some lines, and plain replacements, are known.
  if (name === 'sed') return sedReads(words);
  return false;
}

function sedReads(words: readonly string[]): boolean {
  const [program, ...files] = words.filter((word) => !/^-(?:n|E|r|nE|En)$/.test(word));
  const isPlain =
    /^(?:(?:\d+|\$)?(?:,(?:\d+|\$))?[pdq=];?)+$/.test(program ?? '') ||
    /^s([/|#,])[^\n;{}\\]*?\1[^\n;{}\\]*?\1[gip0-9]*$/.test(program ?? '');
  return isPlain && !files.some((word) => word.startsWith('-'));
}

/** Variables that say where programs and modules are found. */
export function changesPaths(name: string): boolean {
  return /^(?:PATH|PYTHONPATH|PYTHONHOME|NODE_PATH|PERL5LIB|RUBYLIB|LD_LIBRARY_PATH)$/.test(name);
}

/** Variables that change how Skillcell itself, or a program it starts, runs. */
export function changesSkillcell(name: string): boolean {
  if (/^PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8|WARNINGS|HASHSEED)$/.test(name)) return false;
  return /^(?:NODE|NPM|npm|SKILLCELL|LD|DYLD|BASH|PYTHON|XDG|GLIBC|GCONV|MALLOC|SSL|OPENSSL|DBUS|GIT)(?:_|$)|^(?:PYTHON\w+|PATH|HOME|ENV|IFS|CDPATH|SHELLOPTS|BASHOPTS|TMPDIR|PS4|PROMPT_COMMAND|LOCPATH|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN|LESSCLOSE|PERL5OPT|PERL5LIB|RUBYOPT|RUBYLIB)$/.test(
    name,
  );
}
