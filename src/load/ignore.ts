/**
 * What does not belong to a bundle: files of tools and editors, secrets, and what `.skillcellignore` lists, in a subset of
 * the syntax of `.gitignore`. Such files are not read, not part of the digest, and never seen by a cell.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { AUTHORS_FILE } from '../manifest/fragment.ts';
import { quote } from '../manifest/quote.ts';
import { starMatches } from '../manifest/star-pattern.ts';

export const IGNORE_FILE = '.skillcellignore';

export const IGNORE_LIMITS = { bytes: 16_384, patterns: 200, segments: 16 } as const;

/** Files of tools, at any depth. */
const TOOL_NAMES: ReadonlySet<string> = new Set([
  ...['.git', '.hg', '.svn', 'node_modules', '.venv', 'venv', '__pycache__', '.mypy_cache', '.pytest_cache'],
  ...['.ruff_cache', '.tox', '.nox', '.ipynb_checkpoints', '.idea', '.vscode', '.DS_Store', 'Thumbs.db'],
]);
const TOOL_ENDINGS = ['.pyc', '.pyo', '.swp', '~'];

const SECRET_NAMES: ReadonlySet<string> = new Set([
  ...['.env', '.envrc', '.netrc', '.pypirc', '.npmrc', '.ssh', '.aws', '.gnupg'],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519'],
]);
const SECRET_ENDINGS = ['.p12', '.pfx', '.jks', '.keystore'];
/** `.env.production`, but not `.env.example`. */
const SECRET_ENV = /^\.env\.(?!(?:.*\.)?(?:example|sample|template|dist)$)/;
const MAYBE_KEY = /\.(?:pem|key)$/;
const PRIVATE_KEY = 'PRIVATE KEY-----';

/** Always part of a bundle, whatever the author's patterns say. */
const KEPT: ReadonlySet<string> = new Set([
  ...['manifest.yaml', 'SKILL.md', 'skill.lock', 'skill.sig', AUTHORS_FILE, IGNORE_FILE],
]);

/** Whether this path has a meaning for Skillcell itself. */
export function isKept(path: string): boolean {
  return KEPT.has(path);
}

interface Pattern {
  segments: readonly string[];
  includes: boolean;
  foldersOnly: boolean;
}

/** `ignored`: a file of a tool, or listed by the author. `secret`: left out with a warning. */
export type Verdict = 'part' | 'ignored' | 'secret';

export function isIgnoredByDefault(name: string): boolean {
  return TOOL_NAMES.has(name) || TOOL_ENDINGS.some((ending) => name.endsWith(ending));
}

/** Whether a file of this name usually holds a secret. */
function hasSecretName(name: string): boolean {
  return (
    SECRET_NAMES.has(name) || SECRET_ENV.test(name) || SECRET_ENDINGS.some((ending) => name.endsWith(ending))
  );
}

function isPrivateKey(name: string, bytes: Buffer | undefined): boolean {
  return bytes !== undefined && MAYBE_KEY.test(name) && bytes.includes(PRIVATE_KEY);
}

export class IgnoreRules {
  readonly #patterns: readonly Pattern[];

  /** Throws `manifest_invalid` if a line is not part of the subset. */
  constructor(text = '') {
    this.#patterns = parsePatterns(text);
  }

  get size(): number {
    return this.#patterns.length;
  }

  /** Expects a path whose folder is part of the bundle. Only with its bytes is a private key recognized by its content. */
  verdict(path: string, { isFolder, bytes }: { isFolder: boolean; bytes?: Buffer }): Verdict {
    if (KEPT.has(path) && !isFolder) return 'part';
    const segments = path.split('/');
    const name = segments.at(-1) ?? '';
    const listed = this.#patterns.findLast(
      (pattern) => (isFolder || !pattern.foldersOnly) && segmentsMatch(pattern.segments, segments),
    );
    if (listed && !listed.includes) return 'ignored';
    if (this.looksSecret(name, bytes)) {
      // A virtual environment is sometimes called .env.
      if (isFolder && name === '.env') return listed ? 'part' : 'ignored';
      return listed && !listed.segments.some((segment) => segment.includes('*') && segment !== '**')
        ? 'part'
        : 'secret';
    }
    return listed || !isIgnoredByDefault(name) ? 'part' : 'ignored';
  }

  looksSecret(name: string, bytes?: Buffer): boolean {
    return hasSecretName(name) || isPrivateKey(name, bytes);
  }
}

function parsePatterns(text: string): Pattern[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, '').trimEnd());
  const patterns = lines.flatMap((line, at) =>
    line === '' || line.startsWith('#') ? [] : [parsePattern(line, at + 1)],
  );
  if (patterns.length > IGNORE_LIMITS.patterns)
    throw invalid(`it has more than ${IGNORE_LIMITS.patterns} patterns`);
  return patterns;
}

function parsePattern(line: string, at: number): Pattern {
  const includes = line.startsWith('!');
  const text = (includes ? line.slice(1) : line).replace(/^\\(?=[!#])/, '');
  const foldersOnly = text.endsWith('/');
  const path = text.replace(/^\//, '').replace(/\/$/, '');
  const parts = path.split('/');
  if (/[?[\]\\]/.test(text)) throw invalid(`line ${at}, ${quote(line)}: only "*" and "**" are supported`);
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    throw invalid(`line ${at}, ${quote(line)}: not a path inside the bundle`);
  if (parts.some((part) => part !== '**' && part.includes('**')))
    throw invalid(`line ${at}, ${quote(line)}: "**" must stand between slashes`);
  // As in .gitignore, a pattern without a slash matches at any depth.
  const isAnywhere = parts.length === 1 && !text.startsWith('/');
  const segments = isAnywhere ? ['**', ...parts] : parts;
  if (segments.length > IGNORE_LIMITS.segments)
    throw invalid(`line ${at}: more than ${IGNORE_LIMITS.segments} segments`);
  return { segments, includes, foldersOnly };
}

/** `**` matches any number of segments, at the end at least one. */
function segmentsMatch(pattern: readonly string[], path: readonly string[]): boolean {
  // reached[i]: the pattern so far matches the first i segments.
  let reached = [true, ...path.map(() => false)];
  pattern.forEach((segment, at) => {
    if (segment === '**') {
      const first = reached.indexOf(true);
      const least = at === pattern.length - 1 ? first + 1 : first;
      reached = reached.map((_, index) => first >= 0 && index >= least);
    } else {
      reached = reached.map(
        (_, index) => index > 0 && reached[index - 1] === true && starMatches(segment, path[index - 1] ?? ''),
      );
    }
  });
  return reached[path.length] === true;
}

function invalid(reason: string): SkillError {
  return new SkillError('manifest_invalid', `The file "${IGNORE_FILE}" cannot be used: ${reason}.`, {
    fix: 'Write one path or name per line, with "*" for any text within a name, "**" for any folders, and "!" in front of what belongs to the bundle.',
    detail: { file: IGNORE_FILE, reason },
  });
}
