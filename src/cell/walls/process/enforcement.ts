/**
 * What enforces each field around a plain process: almost nothing. The engine inside must provide its own isolation.
 *
 * @module
 */
import { ENFORCED_FIELDS } from '../../../vocabulary/capabilities.ts';
import type { Enforcement, EnforcementTable } from '../../../policy/enforcement.ts';

export function processEnforcement(): EnforcementTable {
  const nobody: Enforcement = { by: 'nobody', how: 'a plain process has no namespaces; install bubblewrap' };
  const table = Object.fromEntries(ENFORCED_FIELDS.map((field) => [field, nobody])) as EnforcementTable;
  return {
    ...table,
    timeout: { by: 'watchdog', how: 'SIGKILL of the process at the deadline' },
    memory: {
      by: 'nobody',
      how: 'a plain process has no memory limit; only engines with their own can run here',
    },
    cpu: { by: 'watchdog', how: 'CPU time of the process, checked every 40 ms, SIGKILL if exceeded' },
    output: { by: 'watchdog', how: 'counted while reading, SIGKILL if exceeded' },
  };
}
