/**
 * Calls a listener.
 *
 * @module
 */
import type { CallEvent, CallListener } from './events.ts';

/** An exception in a listener must not affect the call. */
export function notify(listener: CallListener, event: CallEvent): void {
  try {
    listener(event);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error), 'SkillcellListenerWarning');
  }
}
