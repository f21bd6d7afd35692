import { containerContract } from './contract.ts';

await containerContract('crun');
