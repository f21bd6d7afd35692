/**
 * Programs of an image, in containers of runsc.
 *
 * @module
 */
import { execContract } from './exec-suite.ts';

execContract({ backend: 'runsc' });
