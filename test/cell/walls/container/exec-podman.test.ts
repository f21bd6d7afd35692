/**
 * Programs of an image, in containers of podman.
 *
 * @module
 */
import { execContract } from './exec-suite.ts';

execContract({ backend: 'podman' });
