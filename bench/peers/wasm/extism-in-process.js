/** Extism in the mode that cannot be interrupted: the plugin runs on the caller's own thread. */
import { startExtism } from './extism.js';

export const start = () => startExtism({ runInWorker: false });
