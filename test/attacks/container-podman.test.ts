/**
 * The attacks that the wall itself must stop, in podman containers.
 *
 * @module
 */
import { attackContainers } from './container.ts';
import { ON_THE_WALL } from './on-the-wall.ts';

attackContainers({ make: 'podman', names: ON_THE_WALL });
