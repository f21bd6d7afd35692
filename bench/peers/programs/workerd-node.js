/** The tool runs in this process; the Worker that holds the executor asks it. */
import { startExecutor } from './workerd.js';

export const start = () => startExecutor({ http: true });
