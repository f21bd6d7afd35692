/**
 * The contract of a cell, in containers of an OCI runtime that waited for their call.
 *
 * @module
 */
import { containerContract } from './contract.ts';

await containerContract({ make: 'crun' });
