/**
 * Where Skillcell keeps what outlives a call: the store, the harness, installed packages, the audit log.
 *
 * @module
 */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A root host keeps it outside /root, which no unprivileged cell could pass through. */
export function defaultHome(): string {
  const chosen = process.env['SKILLCELL_HOME'];
  if (chosen) return chosen;
  return process.getuid?.() === 0 ? '/var/lib/skillcell' : join(homedir(), '.local', 'share', 'skillcell');
}
