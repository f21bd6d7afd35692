/**
 * Finds the scripts of an Agent Skills folder: files that a command can run, by their ending or by `#!`. Judges by names
 * and first bytes only, because the content is untrusted.
 *
 * @module
 */
import { posix } from 'node:path';
import {
  SCRIPT_LANGUAGE_NAMES,
  SCRIPT_LANGUAGES,
  type ScriptLanguage,
} from '../vocabulary/script-languages.ts';

export interface ScriptFile {
  path: string;
  language: ScriptLanguage;
  /** Whether its text does something when it is run; otherwise other scripts import it. */
  runs: boolean;
}

const SHEBANG_BYTES = 128;
const SHEBANG = /^#![ \t]*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/;
const TEST_FILE = /^(?:test_.*|.*_test|conftest)\.py$|\.(?:test|spec)\.[cm]?[jt]s$/;
const TEST_FOLDERS: ReadonlySet<string> = new Set(['test', 'tests', '__tests__', 'node_modules']);
/** Templates and data, by the specification; a file there is a script only if it says so with `#!`. */
const DATA_FOLDERS: ReadonlySet<string> = new Set(['assets']);

/** Sorted by path. */
export function findScripts(contents: ReadonlyMap<string, Buffer>): ScriptFile[] {
  const found = [...contents].flatMap(([path, bytes]) => {
    const language = languageOf(path, bytes);
    return language === undefined ? [] : [{ path, language, runs: runsItself(bytes, language) }];
  });
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function languageOf(path: string, bytes: Buffer): ScriptLanguage | undefined {
  const folders = path.split('/').slice(0, -1);
  if (folders.some((folder) => TEST_FOLDERS.has(folder)) || TEST_FILE.test(posix.basename(path)))
    return undefined;
  const isData = DATA_FOLDERS.has(folders[0] ?? '') || /\.d\.[cm]?ts$/.test(path);
  const byName = isData ? undefined : languageOfName(path);
  return byName ?? languageOfShebang(bytes);
}

function languageOfName(path: string): ScriptLanguage | undefined {
  const ending = posix.extname(path).toLowerCase();
  return SCRIPT_LANGUAGE_NAMES.find((name) => SCRIPT_LANGUAGES[name].endings.some((one) => one === ending));
}

/** `#!/usr/bin/env -S python3 -u` names python3. */
function languageOfShebang(bytes: Buffer): ScriptLanguage | undefined {
  if (bytes[0] !== 0x23 || bytes[1] !== 0x21) return undefined;
  const [, program = '', argument = ''] =
    SHEBANG.exec(bytes.toString('latin1', 0, SHEBANG_BYTES).split('\n', 1)[0] ?? '') ?? [];
  // `#![allow(…)]` of Rust and the like name no program.
  if (!program.startsWith('/')) return undefined;
  const name = posix.basename(posix.basename(program) === 'env' ? argument : program);
  const plain = name.replace(/^(python|pypy)\d[\d.]*$/, '$13');
  return (
    SCRIPT_LANGUAGE_NAMES.find((language) =>
      SCRIPT_LANGUAGES[language].interpreters.some((one) => one === plain),
    ) ?? 'other'
  );
}

/** A Python file without a main part and a module that reads no arguments are libraries of other scripts. */
function runsItself(bytes: Buffer, language: ScriptLanguage): boolean {
  if (bytes[0] === 0x23 && bytes[1] === 0x21) return true;
  if (language === 'python') return bytes.includes('__main__') || bytes.includes('sys.argv');
  return language !== 'node' || bytes.includes('process.argv');
}
