/**
 * The main loop of a cell whose guest can wait for several things at once: reads what the host says, and meanwhile lets
 * the guest go on.
 *
 * @module
 */
import type { Channel, Frame } from './channel.ts';

export interface Attendant {
  onFrame: (frame: Frame) => void;
  /** Whether a call is under way. */
  isServing: () => boolean;
  /** There is nothing to do: time to get ready for the next call. */
  onIdle: () => void;
}

/** Ends with the process: without a host there is nobody to work for. */
export async function attend(channel: Channel, { onFrame, isServing, onIdle }: Attendant): Promise<never> {
  for (;;) {
    // Whatever can go on without the host has gone on after this.
    await new Promise(setImmediate);
    if (!isServing()) onIdle();
    const frame = isServing() && hasTimers() ? await channel.receiveLater() : channel.receive();
    if (!frame) process.exit(0);
    onFrame(frame);
  }
}

/** The only thing besides the host that can make a guest go on. */
function hasTimers(): boolean {
  return process.getActiveResourcesInfo().includes('Timeout');
}
