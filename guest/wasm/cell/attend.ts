/**
 * The main loop of a cell whose guest can wait for several things concurrently: reads frames of the host, and resumes
 * the guest in between.
 *
 * @module
 */
import type { Channel, Frame } from './channel.ts';

export interface Attendant {
  onFrame: (frame: Frame) => void;
  /** Whether a call is running. */
  isServing: () => boolean;
  /** Called when idle: time to prepare the next call. */
  onIdle: () => void;
}

/** Never returns while the host exists; ends with the process. */
export async function attend(channel: Channel, { onFrame, isServing, onIdle }: Attendant): Promise<never> {
  for (;;) {
    // Everything that can continue without the host has continued by now.
    await new Promise(setImmediate);
    if (!isServing()) onIdle();
    const frame = isServing() && hasTimers() ? await channel.receiveLater() : channel.receive();
    if (!frame) process.exit(0);
    onFrame(frame);
  }
}

/** The only event other than a frame of the host that can resume a guest. */
function hasTimers(): boolean {
  return process.getActiveResourcesInfo().includes('Timeout');
}
