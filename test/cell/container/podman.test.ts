import { containerContract } from './contract.ts';

await containerContract('podman', { uid: 65_432 });
