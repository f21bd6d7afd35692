/** Extism in the mode that can be interrupted: a thread per plugin. */
import { startExtism } from './extism.js';

export const start = () => startExtism({ runInWorker: true });
