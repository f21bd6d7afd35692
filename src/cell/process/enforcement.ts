/**
 * Who enforces what around a plain process: next to nobody. What runs inside has to bring its own wall.
 *
 * @module
 */
import { ENFORCED_FIELDS, type Enforcement, type EnforcementTable } from '../../policy/enforcement.ts';

export function processEnforcement(): EnforcementTable {
  const nobody: Enforcement = { by: 'nobody', how: 'a plain process has no namespaces; install bubblewrap' };
  const table = Object.fromEntries(ENFORCED_FIELDS.map((field) => [field, nobody])) as EnforcementTable;
  return {
    ...table,
    timeout: { by: 'watchdog', how: 'SIGKILL of the process at the deadline' },
    memory: { by: 'watchdog', how: 'resident memory polled every 40 ms' },
    cpu: { by: 'watchdog', how: 'CPU time polled every 40 ms' },
    output: { by: 'watchdog', how: 'counted while it is read, SIGKILL beyond' },
  };
}
