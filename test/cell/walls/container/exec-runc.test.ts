/**
 * Programs of an image, in containers of runc.
 *
 * @module
 */
import { execContract } from './exec-suite.ts';

execContract({ backend: 'runc' });
