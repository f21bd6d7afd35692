/**
 * The cell contract, in containers of podman. Each is started for its call, because podman takes too long to start two.
 *
 * @module
 */
import { containerContract } from './contract.ts';

await containerContract({ backend: 'podman', start: 'cold', uid: 65_432, patience: 3000 });
