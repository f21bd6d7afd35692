/**
 * Finds the container engines that respond on this machine.
 *
 * @module
 */
import { dockerEngine } from './docker.ts';
import type { ImageEngine } from './engine.ts';
import { podmanEngine } from './podman.ts';

/** Podman first, because it needs no service. */
export async function findEngines(): Promise<ImageEngine[]> {
  const engines = await Promise.all([podmanEngine(), dockerEngine()]);
  return engines.filter((engine) => engine !== undefined);
}
