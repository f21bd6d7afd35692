/**
 * The attacks that the wall itself must stop, in docker containers.
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
