/**
 * How a listener is told.
 *
 * @module
 */
import type { CallEvent, CallListener } from './events.ts';

/** A fault of a listener is none of the call. */
export function hear(listener: CallListener, event: CallEvent): void {
  try {
    listener(event);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error), 'SkillcellListenerWarning');
  }
}
