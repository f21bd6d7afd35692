/**
 * The cell contract, in containers of docker that are started for each call.
 *
 * @module
 */
import { afterAll } from 'vitest';
import { startDocker } from '../../../../scripts/docker-service.ts';
import { containerContract } from './contract.ts';

const docker = await startDocker();

await containerContract({
  backend: 'docker',
  start: 'cold',
  uid: 65_432,
  patience: 3000,
  dockerSocket: docker.socket,
});
// Hooks run in reverse, so the runtime, which was opened later, is closed first.
afterAll(docker.close);
