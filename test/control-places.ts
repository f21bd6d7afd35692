/**
 * The places in a project from which Skillcell reads skills and rules. A skill gets the project writable only if all of
 * them exist, because only then can they be protected.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = [
  '.skillcell',
  'skills',
  '.claude-plugin',
  ...['.agents', '.claude', '.gemini', '.cursor', '.github', '.codex'].map((agent) => `${agent}/skills`),
];
const FILES = ['skillcell.policy.yaml', 'skills.lock.json'];

export const ALL_CONTROL_PLACES: readonly string[] = [...FOLDERS, ...FILES];

/** Makes empty ones where there are none. */
export function makeControlPlaces(project: string): void {
  for (const name of FOLDERS) mkdirSync(join(project, name), { recursive: true });
  for (const name of FILES) writeFileSync(join(project, name), '', { flag: 'a' });
}
