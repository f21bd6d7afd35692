import { wasmContract } from './contract.ts';

wasmContract('a Wasm cell in a jail', 'jail', {});
