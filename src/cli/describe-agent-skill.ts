/**
 * Describes an Agent Skills folder: its texts, its scripts with their imports, and the commands it tells a model to run.
 *
 * @module
 */
import { type Skill, describeScripts, neededModules, printableLine } from '../inside.ts';
import { KINDS } from '../vocabulary/kinds.ts';
import { table } from './output.ts';

/** `--json` prints all of them. */
const MAX_LINES = 25;
const INDENT = '\n          ';

export function describeAgentSkill({ bundle }: Skill): string[] {
  const { kind, manifest, files, commands } = bundle;
  const scripts = describeScripts(bundle);
  const texts = Object.keys(files).filter((path) => /\.(?:md|markdown|txt)$/i.test(path));
  const used = (commands?.used ?? []).map(({ value, at }) => `${value} (${at})`);
  return [
    `kind      ${kind}: ${KINDS[kind].meaning}`,
    ...section('asks', wishes(manifest.extra)),
    ...section('texts', texts),
    ...section('scripts', rows(scripts.map(scriptRow))),
    ...section('needs', inOneLine(neededModules(bundle))),
    ...section('programs', inOneLine([...new Set(used)])),
    ...section('told', toldLines(bundle)),
  ];
}

/** What `inspect --json` adds for an Agent Skills folder. */
export function agentSkillJson({ bundle }: Skill): Record<string, unknown> {
  const { kind, manifest, commands } = bundle;
  if (kind === 'function') return { kind };
  return {
    kind,
    allowed_tools: manifest.extra['allowed-tools'] ?? null,
    scripts: describeScripts(bundle),
    needs: neededModules(bundle),
    commands,
  };
}

/** Commands that run a script of the skill first, because these are calls. */
function toldLines({ commands, scripts = [] }: Skill['bundle']): string[] {
  const isCall = (value: string): boolean => scripts.some(({ path }) => value.includes(path));
  const told = commands?.told ?? [];
  return [...told.filter(({ value }) => isCall(value)), ...told.filter(({ value }) => !isCall(value))].map(
    ({ value, at }) => `${value} (${at})`,
  );
}

function wishes(extra: Record<string, unknown>): string[] {
  const tools = extra['allowed-tools'];
  const compatibility = extra['compatibility'];
  return [
    ...(tools === undefined ? [] : [`allowed-tools ${wish(tools)} (a wish, not a grant)`]),
    ...(compatibility === undefined ? [] : [`compatibility ${wish(compatibility)}`]),
  ];
}

function wish(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function scriptRow({ path, language, runs, imports }: ReturnType<typeof describeScripts>[number]): string[] {
  return [path, runs ? language : `${language} library`, imports.join(', ')];
}

function rows(cells: string[][]): string[] {
  return cells.length === 0 ? [] : table(cells).split('\n');
}

function inOneLine(values: readonly string[]): string[] {
  return values.length === 0 ? [] : [values.join(', ')];
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const rest = lines.length - MAX_LINES;
  const shown = lines.slice(0, MAX_LINES).map((line) => printableLine(line.trimEnd()));
  if (rest > 0) shown.push(`… and ${rest} more, see --json`);
  return [`${title.padEnd(9)} ${shown.join(INDENT)}`];
}
