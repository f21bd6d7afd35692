/**
 * Limits inside a cell, by the names that the host knows them by.
 *
 * @module
 */

const NAMES: Readonly<Record<string, string>> = {
  files: 'handles',
  fuel: 'fuel',
  handles: 'handles',
  memory: 'memory',
  host_calls: 'host_calls',
};

/** Any other limit concerns the size of data. */
export function outsideName(limit: string): string {
  return NAMES[limit] ?? 'output';
}
