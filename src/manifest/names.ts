/**
 * Rules for the names in a manifest: the skill, environment variables, packages.
 * Each rule returns the problem, or undefined.
 *
 * @module
 */
import { quote } from './quote.ts';

const SEGMENT = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

/** One half of `category/name`. ASCII only, so that look-alike letters cannot imitate another skill's name. */
export function isNameSegment(text: string): boolean {
  return SEGMENT.test(text);
}

export function skillNameProblem(name: string): string | undefined {
  const segments = name.split('/');
  if (segments.length !== 2) return `${quote(name)} is not of the form "category/name"`;
  if (segments.every(isNameSegment)) return undefined;
  return `${quote(name)} may only use a-z, 0-9, "_" and "-" in each part, 64 characters at most`;
}

/** A skill, or several with a star in a segment: `text/word_stats`, `text/*`, `*\/*`. */
export function skillPatternProblem(pattern: string): string | undefined {
  const isPattern = pattern.length <= 200 && /^[a-z0-9_*-]+\/[a-z0-9_*-]+$/.test(pattern);
  return isPattern ? undefined : 'Expected the name of a skill, such as text/word_stats or text/*';
}

export const VERSION: RegExp = /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$/;

/** The version of a skill that names none. */
export const NO_VERSION = '0.0.0';

/** Common names of keys. */
const SECRET_NAME = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PAT|DSN)(?:_|$)/i;

/** Whether a variable seems to hold a secret, by its name. */
export function namesSecret(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Variables with these prefixes control a loader, an interpreter, a tool or Skillcell itself. */
const STEERING_PREFIXES = [
  'LD_',
  'DYLD_',
  'PYTHON',
  'NODE_',
  'NPM_',
  'DENO_',
  'BUN_',
  'RUBY',
  'PERL',
  'JAVA_',
  'BASH_',
  'GIT_',
  'GLIBC_',
  'GCONV_',
  'MALLOC_',
  'OPENSSL_',
  'SSL_CERT_',
  'PIP_',
  'UV_',
  'LC_',
  'XDG_',
  'SKILLCELL_',
];

const STEERING_NAMES: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'TMPDIR',
  'TMP',
  'TEMP',
  'PWD',
  'OLDPWD',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'ENV',
  'IFS',
  'CDPATH',
  'SHELLOPTS',
  'BASHOPTS',
  'PROMPT_COMMAND',
  'PS4',
  'GLOBIGNORE',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'FTP_PROXY',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'SSLKEYLOGFILE',

  'HOSTALIASES',
  'LOCALDOMAIN',
  'RES_OPTIONS',
  'RESOLV_HOST_CONF',
  'NLSPATH',
  'LOCPATH',
  'TZDIR',
  'TERMINFO',
  '_JAVA_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'CLASSPATH',
  'VIRTUAL_ENV',
  'GETCONF_DIR',
  'TERMCAP',
]);

/** A skill may ask for its own settings, never for those of the software that runs it. */
export function envNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) {
    return `${quote(name)} is not a valid variable name; use letters, digits and "_", not starting with a digit`;
  }
  // YAML and JSON readers reject this key, because it is special in JavaScript objects.
  if (name === '__proto__') return `${quote(name)} is reserved; use another name`;
  // Upper case: curl and Python also obey `https_proxy`.
  const upper = name.toUpperCase();
  const steers = STEERING_NAMES.has(upper) || STEERING_PREFIXES.some((prefix) => upper.startsWith(prefix));
  return steers
    ? `${quote(name)} controls the interpreter, the loader or the runtime itself; use another name`
    : undefined;
}

/** The name of a system program, as in PATH: never a path, and nothing that an argument or a shell would read otherwise. */
export function programNameProblem(name: string): string | undefined {
  return /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$/.test(name)
    ? undefined
    : `${quote(name)} is not the name of a program such as "pdftoppm"; write it without a folder`;
}

/** PEP 508 by name only: installer options and direct URLs would choose where code comes from. */
export function requirementProblem(requirement: string): string | undefined {
  const shape =
    /^(?!.*\s-)[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])? ?(?:\[[A-Za-z0-9._, -]{0,200}\])? ?[()<>=!~0-9A-Za-z.*+, -]{0,200}(?:;[ -~]{0,300})?$/;
  return shape.test(requirement)
    ? undefined
    : `${quote(requirement)} is not a requirement of the form "name>=1.0"; installer options and URLs are not accepted`;
}
