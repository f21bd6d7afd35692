/** The tool runs in the Worker that holds the executor. */
import { startExecutor } from './workerd.js';

export const start = () => startExecutor({ http: false });
