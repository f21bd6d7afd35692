/**
 * Records the picture in the README from the real command line, in an empty home:
 *
 *     node scripts/record-demo.ts
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { terminalSvg, type Entry } from './documents/terminal-svg.ts';
import { ROOT } from './steps.ts';

export const DEMO_FILE = 'docs/demo.svg';
const TITLE = 'Skillcell runs a skill, denies another what it did not declare, and keeps receipts of both';
const SECONDS_EACH = 60;

export const COMMANDS: readonly string[] = [
  `npx skillcell run optimization/prompt_rewriter --params '{"raw_text":"Please could you kindly summarize this"}'`,
  `npx skillcell run web/fetch_title --params '{"url":"https://example.org/"}'`,
  'npx skillcell audit verify',
];

/** Runs the commands one after the other and records what a terminal would show. */
export function recordDemo(commands: readonly string[] = COMMANDS): Entry[] {
  const home = mkdtempSync(join(tmpdir(), 'skillcell-demo-'));
  try {
    return commands.map((command) => ({ command, output: outputOf(command, home) }));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function outputOf(command: string, home: string): string {
  const program = `"${process.execPath}" "${join(ROOT, 'bin/skillcell.js')}"`;
  const line = `{ ${command.replace('npx skillcell', program)}\n} 2>&1`;
  const env = { ...process.env, NO_COLOR: '1', SKILLCELL_HOME: home };
  const bounded = [String(SECONDS_EACH), '/bin/sh', '-c', line];
  const result = spawnSync('/usr/bin/timeout', bounded, { cwd: ROOT, env, input: '', encoding: 'utf8' });
  return result.stdout;
}

if (import.meta.main) {
  writeFileSync(join(ROOT, DEMO_FILE), terminalSvg(recordDemo(), TITLE));
  console.log(`Written to ${DEMO_FILE}`);
}
