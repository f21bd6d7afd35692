import { wasmContract } from './contract.ts';

wasmContract('a Wasm cell in a plain process', 'process', { jail: { bwrap: '/nonexistent' } });
