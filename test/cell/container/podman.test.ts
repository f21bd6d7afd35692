/**
 * The contract of a cell, in containers of podman. Each is started for its call: podman takes too long to start two.
 *
 * @module
 */
import { containerContract } from './contract.ts';

await containerContract({ make: 'podman', start: 'cold', uid: 65_432, patience: 3000 });
