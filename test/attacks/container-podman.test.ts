/**
 * The attacks that the wall itself has to stop, in containers of podman.
 *
 * @module
 */
import { attackContainers, ON_THE_WALL } from './container.ts';

attackContainers({ make: 'podman', names: ON_THE_WALL });
