/**
 * Keeps the commands that a worker thread found in a bundle, in a private folder of the home, by the digest of the bundle and
 * by the code that searched.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { COMMAND_RISKS } from '../vocabulary/command-risks.ts';
import { namesOf } from '../vocabulary/table.ts';
import type { Commands } from './commands.ts';
import { publishSync } from './publish.ts';

const finding = z.strictObject({ value: z.string(), at: z.string() });
const findings = z.array(finding);
const commandsSchema = z.strictObject({
  programs: findings,
  piped: findings,
  skipped: findings,
  risks: z.array(z.strictObject({ ...finding.shape, risk: z.enum(namesOf(COMMAND_RISKS)) })).exactOptional(),
  told: findings.exactOptional(),
  used: findings.exactOptional(),
  imports: findings.exactOptional(),
});

/** Undefined if there are none, or if the file has anything else in it. */
export function knownCommands(file: string): Commands | undefined {
  try {
    return commandsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Failing to write only makes the next load slower. */
export function keepCommands(file: string, commands: Commands): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    publishSync(file, (draft) => writeFileSync(draft, JSON.stringify(commands), { mode: 0o600 }));
  } catch {
    return;
  }
}
