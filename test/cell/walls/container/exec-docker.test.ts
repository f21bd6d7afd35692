/**
 * Programs of an image, in containers of docker.
 *
 * @module
 */
import { afterAll } from 'vitest';
import { startDocker } from '../../../../scripts/docker-service.ts';
import { execContract } from './exec-suite.ts';

const docker = await startDocker();
// Hooks run in reverse, so the runtime, which is opened later, is closed first.
afterAll(docker.close);
execContract({
  backend: 'docker',
  options: { container: { makes: ['docker'], dockerSocket: docker.socket } },
});
