/**
 * What the kernel has to do in containers of docker; that the rest is the same is shown for podman.
 *
 * @module
 */
import { afterAll } from 'vitest';
import { containerContract } from './contract.ts';
import { startDocker } from './docker-service.ts';

const docker = await startDocker();

await containerContract({
  make: 'docker',
  start: 'cold',
  uid: 65_432,
  patience: 3000,
  dockerSocket: docker.socket,
  parts: ['freshness', 'limits', 'processes'],
});
// Hooks run in reverse: the runtime, which was opened later, is closed before.
afterAll(docker.close);
