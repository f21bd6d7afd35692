/**
 * The cell contract, in containers of an OCI runtime that are started ahead of their call.
 *
 * @module
 */
import { containerContract } from './contract.ts';

await containerContract({ backend: 'crun' });
