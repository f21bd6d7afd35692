/**
 * The line that a program prints when it is ready.
 *
 * @module
 */
import { once } from 'node:events';
import type { Interface } from 'node:readline';

/** The first line; an error if the program exits without one. */
export async function firstLine(lines: Interface, program: string): Promise<string> {
  const ended = once(lines, 'close').then((): never => {
    throw new Error(`${program} ended before it was ready.`);
  });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return line;
}
