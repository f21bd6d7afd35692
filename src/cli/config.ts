/**
 * Defaults for options from files: `skillcell/config.yaml` in the user's configuration folder, and `skillcell.config.yaml` in
 * the current folder or the nearest one above. A project may be untrusted, so its file can only restrict.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { SkillError, assertCatalog, parseDuration, parseSize, readYaml } from '../inside.ts';

const PROJECT_FILE = 'skillcell.config.yaml';

type KeyName = 'isolated' | 'timeout' | 'memory' | 'workspace' | 'keep_content' | 'catalogs';
type Value = string | boolean | string[];

interface KeyRow {
  /** A project's file may set it, because it takes something away. */
  inProject: boolean;
  expects: string;
  /** Returns whether the value fits. */
  accepts: (value: unknown) => value is Value;
}

const isTrue = (value: unknown): value is true => value === true;
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isCatalogs = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string' && isCatalog(one));
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const parses =
  (parse: (text: string) => number) =>
  (value: unknown): value is string => {
    if (typeof value !== 'string') return false;
    try {
      return parse(value) > 0;
    } catch {
      return false;
    }
  };

/** Every key. None of them trusts, approves, or names a policy. */
export const CONFIG_KEYS: Readonly<Record<KeyName, KeyRow>> = {
  isolated: { inProject: true, expects: 'true', accepts: isTrue },
  timeout: { inProject: true, expects: 'a duration, such as 5s', accepts: parses(parseDuration) },
  memory: { inProject: true, expects: 'a size, such as 64MiB', accepts: parses(parseSize) },
  // These would let a project choose the folder that skills may use, or have parameters stored.
  workspace: { inProject: false, expects: 'a folder', accepts: isText },
  keep_content: { inProject: false, expects: 'true or false', accepts: isFlag },
  // This would let a project choose which servers are asked, and offer its own skills.
  catalogs: {
    inProject: false,
    expects: 'a list of catalogs, such as [oci://registry.example/catalog, https://skills.example/]',
    accepts: isCatalogs,
  },
};

type Values = Partial<Record<KeyName, Value>>;

interface ConfigFile {
  file: string;
  values: Values;
}

export interface Config {
  user: ConfigFile | undefined;
  project: ConfigFile | undefined;
}

/** Options as commander gives them, as far as files can set them. */
export interface ConfigurableFlags {
  isolated?: boolean;
  timeout?: string;
  memory?: string;
  workspace?: string;
  keepContent?: boolean;
}

export function readConfig(folder: string = process.cwd()): Config {
  const project = nearest(folder);
  return {
    user: readFile(userFile(), 'user'),
    project: project === undefined ? undefined : readFile(project, 'project'),
  };
}

/** Where `search` looks. */
export function catalogsOf({ user }: Config): string[] {
  const { catalogs } = user?.values ?? {};
  return isCatalogs(catalogs) ? catalogs : [];
}

export function userFile(): string {
  const chosen = process.env['XDG_CONFIG_HOME'];
  const parent = chosen !== undefined && isAbsolute(chosen) ? chosen : join(homedir(), '.config');
  return join(parent, 'skillcell', 'config.yaml');
}

/** The command line wins over the user's file; what a project restricts stays restricted. */
export function withConfig<T extends ConfigurableFlags>(flags: T, { user, project }: Config): T {
  const own = user?.values ?? {};
  const limits = project?.values ?? {};
  const isolated = flags.isolated === true || own.isolated === true || limits.isolated === true;
  const timeout = smallest(parseDuration, flags.timeout ?? own.timeout, limits.timeout);
  const memory = smallest(parseSize, flags.memory ?? own.memory, limits.memory);
  const workspace =
    flags.workspace ??
    (user && isText(own.workspace) ? resolve(dirname(user.file), own.workspace) : undefined);
  const keepContent = flags.keepContent ?? own.keep_content === true;
  return {
    ...flags,
    ...(isolated ? { isolated } : {}),
    ...(timeout === undefined ? {} : { timeout }),
    ...(memory === undefined ? {} : { memory }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(keepContent ? { keepContent } : {}),
  };
}

function isCatalog(text: string): boolean {
  try {
    assertCatalog(text);
    return true;
  } catch {
    return false;
  }
}

function smallest(parse: (text: string) => number, ...values: (Value | undefined)[]): string | undefined {
  return values.filter(isText).toSorted((a, b) => parse(a) - parse(b))[0];
}

function nearest(folder: string): string | undefined {
  const file = join(folder, PROJECT_FILE);
  if (statSync(file, { throwIfNoEntry: false })) return file;
  return folder === dirname(folder) ? undefined : nearest(dirname(folder));
}

function readFile(file: string, place: 'user' | 'project'): ConfigFile | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return undefined;
  // Reading a pipe would wait for ever.
  if (!found.isFile()) throw invalid(file, 'is not a regular file', 'Replace it with a file, or remove it.');
  const { value, lineOf } = parse(file);
  if (value === null) return { file, values: {} };
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalid(file, 'is not a mapping of keys to values', 'Write lines such as "timeout: 5s".');
  for (const [key, entry] of Object.entries(value))
    check({ file, place, line: lineOf([key]) ?? 1 }, key, entry);
  return { file, values: value };
}

function parse(file: string): Pick<ReturnType<typeof readYaml>, 'value' | 'lineOf'> {
  try {
    const source = readYaml(readFileSync(file, 'utf8'), { file });
    return { value: source.value, lineOf: (path) => source.lineOf(path) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(file, `cannot be read: ${reason}`, 'Correct the file, or remove it.');
  }
}

interface Place {
  file: string;
  place: 'user' | 'project';
  line: number;
}

function check({ file, place, line }: Place, key: string, value: unknown): void {
  const rows = Object.entries(CONFIG_KEYS).filter(([, { inProject }]) => place === 'user' || inProject);
  const row = rows.find(([name]) => name === key)?.[1];
  if (!row) {
    const known = Object.hasOwn(CONFIG_KEYS, key);
    const problem = known
      ? `may not set "${key}", because a project can only restrict`
      : `has the unknown key "${key}"`;
    const fix = known
      ? `Move line ${line} to ${userFile()}.`
      : `Remove line ${line}. The keys are: ${rows.map(([name]) => name).join(', ')}.`;
    throw invalid(file, `${problem} (line ${line})`, fix);
  }
  if (!row.accepts(value))
    throw invalid(file, `has a wrong value for "${key}" (line ${line})`, `Write ${row.expects}.`);
}

function invalid(file: string, problem: string, fix: string): SkillError {
  return new SkillError('usage', `The configuration file "${file}" ${problem}`, { fix, detail: { file } });
}
