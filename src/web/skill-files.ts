/**
 * The files of a skill, and the scripts of an Agent Skills folder.
 *
 * @module
 */
import { h, type Child } from './dom.ts';
import { shortDigest } from './format.ts';
import { panel, table } from './parts.ts';
import type { SkillPage } from './types.ts';

/** By the ending of the name; the service runs no other files as scripts. */
const LANGUAGES: Readonly<Record<string, string>> = {
  py: 'Python',
  sh: 'Shell',
  bash: 'Shell (bash)',
  js: 'JavaScript',
  mjs: 'JavaScript',
  cjs: 'JavaScript',
  ts: 'TypeScript',
};

export function filesTable({ files, file_digests }: SkillPage): HTMLElement {
  return table(
    ['File', 'sha256'],
    files.map((file) => [h('span', 'mono break', file), digestOf(file_digests, file)]),
  );
}

export function scriptsPanel({ kind, files, file_digests }: SkillPage): Child {
  if (kind !== 'script') return undefined;
  const rows = files.flatMap((file) => {
    const language = languageOf(file);
    const name = h('span', 'mono break', file);
    return language === undefined ? [] : [[name, language, digestOf(file_digests, file)]];
  });
  return panel(`Scripts (${rows.length})`, table(['File', 'Language', 'sha256'], rows));
}

function languageOf(file: string): string | undefined {
  const ending = /\.(\w{1,8})$/.exec(file)?.[1] ?? '';
  return Object.hasOwn(LANGUAGES, ending) ? LANGUAGES[ending] : undefined;
}

function digestOf(digests: Record<string, string>, file: string): Child {
  const digest = Object.hasOwn(digests, file) ? (digests[file] ?? '') : '';
  return h('code', { attrs: { title: digest } }, shortDigest(digest));
}
