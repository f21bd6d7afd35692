/** workerd with an isolate per call. */
import { startWorkerd } from './workerd.js';

export const start = () => startWorkerd({ fresh: true });
