/**
 * Programs of an image, in containers of crun.
 *
 * @module
 */
import { execContract } from './exec-suite.ts';

execContract({ backend: 'crun' });
