/** Extism in the mode that nobody can stop: the plugin runs on the caller's own thread. */
import { startExtism } from './extism.js';

export const start = () => startExtism({ runInWorker: false });
