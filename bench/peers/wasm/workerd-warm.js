/** workerd with one isolate for all calls: not fresh, for comparison only. */
import { startWorkerd } from './workerd.js';

export const start = () => startWorkerd({ fresh: false });
