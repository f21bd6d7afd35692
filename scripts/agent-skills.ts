/**
 * `npm run agent-skills -- [--json] DIR…`: loads every Agent Skills folder below the given checkouts, runs nothing, and
 * prints a table: whether it loads or which rule it breaks, its kind, its scripts and what they import.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRuntime, describeScripts, neededModules, printableLine, SkillError } from '../src/inside.ts';
import type { Runtime } from '../src/inside.ts';
import { findBundles } from '../src/study/find-bundles.ts';

const MAX_BUNDLES = 2000;
const RULE = /\[rule ([a-z-]+)\]/g;

export interface AgentSkillRow {
  folder: string;
  loads: boolean;
  /** Rules of the specification that it breaks. */
  rules: string[];
  /** Why it does not load. */
  reason: string;
  kind: string;
  scripts: number;
  languages: string[];
  /** Imported modules outside of the standard library and the folder. */
  needs: string[];
}

export async function examine(runtime: Runtime, folder: string, dir: string): Promise<AgentSkillRow> {
  try {
    const { bundle } = await runtime.load(dir);
    const scripts = describeScripts(bundle);
    const rules = rulesIn(bundle.warnings);
    const languages = [...new Set(scripts.map(({ language }) => language))].sort();
    const facts = { kind: bundle.kind, scripts: scripts.length, languages, needs: neededModules(bundle) };
    return { folder, loads: true, rules, reason: '', ...facts };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const facts = { kind: '-', scripts: 0, languages: [], needs: [] };
    return { folder, loads: false, rules: rulesIn([error.message]), reason: error.message, ...facts };
  }
}

function rulesIn(texts: readonly string[]): string[] {
  const rules = texts.flatMap((text) => [...text.matchAll(RULE)].map(([, rule = '']) => rule));
  return [...new Set(rules)].sort();
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (positionals.length === 0) {
    console.error('Pass folders that contain Agent Skills: npm run agent-skills -- DIR…');
    process.exitCode = 2;
    return;
  }
  const home = mkdtempSync(join(tmpdir(), 'skillcell-agent-skills-'));
  try {
    await using runtime = createRuntime({ home, cwd: home });
    for (const checkout of positionals) print(checkout, await examineAll(runtime, checkout), values.json);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** One after the other: every load may start a cell, and the machine has few cores. */
async function examineAll(runtime: Runtime, checkout: string): Promise<AgentSkillRow[]> {
  const rows: AgentSkillRow[] = [];
  for (const { dir, path } of findBundles(checkout, MAX_BUNDLES))
    rows.push(await examine(runtime, path, dir));
  return rows;
}

function print(checkout: string, rows: readonly AgentSkillRow[], isJson: boolean): void {
  if (isJson) {
    console.log(JSON.stringify({ checkout, rows }));
    return;
  }
  const cells = rows.map((row) => [
    row.folder,
    row.loads ? 'yes' : printableLine(row.reason),
    row.rules.join(', '),
    row.kind,
    row.scripts === 0 ? '' : String(row.scripts),
    row.languages.join(', '),
    row.needs.join(', '),
  ]);
  const header = ['folder', 'loads', 'breaks', 'kind', 'scripts', 'languages', 'imports'];
  const lines = [header, header.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`);
  console.log(`\n${checkout}\n\n${lines.join('\n')}\n\n${totals(rows)}`);
}

function totals(rows: readonly AgentSkillRow[]): string {
  const count = (test: (row: AgentSkillRow) => boolean): number => rows.filter(test).length;
  const following = count(({ rules }) => rules.length === 0);
  return [
    `${count(({ loads }) => loads)} of ${rows.length} folders load`,
    `${following} follow the specification, of which ${count(({ loads, rules }) => loads && rules.length === 0)} load`,
    `${count(({ kind }) => kind === 'script')} with scripts, ${count(({ kind }) => kind === 'instructions')} with instructions only`,
    `${rows.reduce((sum, { scripts }) => sum + scripts, 0)} script files`,
  ].join('; ');
}

if (import.meta.main) await main();
