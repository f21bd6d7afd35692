/**
 * Ctrl-C while a skill runs.
 *
 * @module
 */

/** A service that reloads on SIGHUP handles that signal itself. */
export const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/** Aborts the call instead of the process, so that its cell is cleaned up and its receipt written before we exit. */
export function interruption(signals: readonly NodeJS.Signals[] = [...STOP_SIGNALS, 'SIGHUP']): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) process.on(signal, () => controller.abort());
  return controller.signal;
}
