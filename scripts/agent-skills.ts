/**
 * `npm run agent-skills -- [--json] DIR…`: loads every Agent Skills folder below the given checkouts, runs nothing, and
 * prints a table: whether it loads or which rule it breaks, its kind, its scripts and what they import.
 *
 * More evidence, which runs scripts in cells and installs packages into a temporary home; each prints JSON:
 *
 *     --run           asks every script that is meant to be run for its usage
 *     --wheels DIR    with --run, asks scripts in Wasm again with the wheels in this folder (scripts/wasm-wheels.py)
 *     --load DIR      adds a checkout whose scripts are not run
 *     --tasks DIR     does real tasks with the skills of a checkout of anthropics/skills
 *     --office        with --tasks, also those that need LibreOffice, in an image that is built from Debian packages
 *     --inject DIR    runs the hostile scripts of a checkout of SKILL-INJECT in a control and in cells
 *     --save          keeps the result in `bench/results/`, from which doc-tables.ts makes the tables of the document
 *
 * Some scripts start LibreOffice: for their usage in a jail, install the Debian packages libreoffice-writer-nogui,
 * libreoffice-calc-nogui and libreoffice-impress-nogui on this machine.
 *
 * A checkout may be named `DIR=owner/name@commit`, which the saved result then says.
 *
 * @module
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRuntime, printableLine } from '../src/inside.ts';
import { examineAll, type AgentSkillRow } from './agent-skills/examine.ts';

const OPTIONS = {
  json: { type: 'boolean', default: false },
  run: { type: 'boolean', default: false },
  load: { type: 'string', multiple: true },
  wheels: { type: 'string' },
  tasks: { type: 'string' },
  inject: { type: 'string' },
  office: { type: 'boolean', default: false },
  save: { type: 'boolean', default: false },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  if (positionals.length === 0 && values.inject === undefined && values.tasks === undefined) {
    console.error('Pass folders that contain Agent Skills: npm run agent-skills -- DIR…');
    process.exitCode = 2;
    return;
  }
  const temp = mkdtempSync(join(tmpdir(), 'skillcell-agent-skills-'));
  // If we are root, cells run as another user, who must be able to reach the folder.
  chmodSync(temp, 0o711);
  try {
    if (values.run || values.save || values.tasks !== undefined || values.inject !== undefined) {
      const { gather } = await import('./agent-skills/gather.ts');
      await gather({ temp, checkouts: positionals, ...values });
      return;
    }
    await using runtime = createRuntime({ home: temp, cwd: temp });
    for (const checkout of positionals) print(checkout, await examineAll(runtime, checkout), values.json);
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
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
