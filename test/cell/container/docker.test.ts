/**
 * The contract of a cell, in containers of docker, each started for its call.
 *
 * @module
 */
import { afterAll } from 'vitest';
import { startDocker } from '../../../scripts/docker-service.ts';
import { containerContract } from './contract.ts';

const docker = await startDocker();

await containerContract({
  make: 'docker',
  start: 'cold',
  uid: 65_432,
  patience: 3000,
  dockerSocket: docker.socket,
});
// Hooks run in reverse: the runtime, which was opened later, is closed before.
afterAll(docker.close);
