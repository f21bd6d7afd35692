/**
 * The attacks that the wall itself has to stop, in containers of docker.
 *
 * @module
 */
import { afterAll } from 'vitest';
import { startDocker } from '../../scripts/docker-service.ts';
import { attackContainers } from './container.ts';
import { ON_THE_WALL } from './on-the-wall.ts';

const docker = await startDocker();
afterAll(docker.close);

attackContainers({ make: 'docker', names: ON_THE_WALL, dockerSocket: docker.socket });
