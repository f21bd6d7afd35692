/**
 * The attacks that the wall itself has to stop, in containers of podman.
 *
 * @module
 */
import { attackContainers } from './container.ts';
import { ON_THE_WALL } from './on-the-wall.ts';

attackContainers({ make: 'podman', names: ON_THE_WALL });
