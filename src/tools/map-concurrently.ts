/**
 * Limited concurrency for work on many skills.
 *
 * @module
 */
import { availableParallelism } from 'node:os';

/** Inspecting a skill may start a jail, and too many at a time would starve each other. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  most: number = availableParallelism(),
): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of rest) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(items.length, most) }, worker));
  return results;
}
