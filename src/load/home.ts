/**
 * The folder for data that outlives a call: the store, the harness, installed packages, the audit log.
 *
 * @module
 */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A folder in which several homes share engines that take seconds to prepare; if undefined, each home prepares its own. */
export function sharedEngines(): string | undefined {
  return process.env['SKILLCELL_ENGINES'] || undefined;
}

/** For root, outside /root, because unprivileged cells cannot traverse /root. */
export function defaultHome(): string {
  const chosen = process.env['SKILLCELL_HOME'];
  if (chosen) return chosen;
  return process.getuid?.() === 0 ? '/var/lib/skillcell' : join(homedir(), '.local', 'share', 'skillcell');
}
