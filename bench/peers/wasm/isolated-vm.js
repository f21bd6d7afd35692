/** isolated-vm: a fresh V8 isolate per call. */
import ivm from 'isolated-vm';
import { JOB_SCRIPT } from './job-source.js';

export function start() {
  return {
    async call(params) {
      const isolate = new ivm.Isolate({ memoryLimit: 64 });
      const context = await isolate.createContext();
      const result = await context.eval(`${JOB_SCRIPT}\nexecute(${JSON.stringify(params)})`);
      isolate.dispose();
      return result;
    },
  };
}
