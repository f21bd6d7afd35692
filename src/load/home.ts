/**
 * Where Skillcell keeps what outlives a call: the store, the harness, installed packages, the audit log.
 *
 * @module
 */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A folder in which several homes share engines that take seconds to prepare; undefined: each prepares its own. */
export function sharedEngines(): string | undefined {
  return process.env['SKILLCELL_ENGINES'] || undefined;
}

/** A root host keeps it outside /root, which no unprivileged cell could pass through. */
export function defaultHome(): string {
  const chosen = process.env['SKILLCELL_HOME'];
  if (chosen) return chosen;
  return process.getuid?.() === 0 ? '/var/lib/skillcell' : join(homedir(), '.local', 'share', 'skillcell');
}
