/**
 * What Ctrl-C does while a skill runs.
 *
 * @module
 */

/** Ends the call, not us: its cell is cleaned up and its receipt written before we leave. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}
