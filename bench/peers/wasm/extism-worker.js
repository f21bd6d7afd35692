/** Extism in the mode that can be stopped: a thread per plugin. */
import { startExtism } from './extism.js';

export const start = () => startExtism({ runInWorker: true });
