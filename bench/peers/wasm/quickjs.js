/** quickjs-emscripten: a fresh runtime and context per call; all of them share one Wasm memory. */
import { getQuickJS } from 'quickjs-emscripten';
import { JOB_SCRIPT } from './job-source.js';

export async function start() {
  const quickjs = await getQuickJS();
  return {
    call(params) {
      const runtime = quickjs.newRuntime();
      const context = runtime.newContext();
      const script = `${JOB_SCRIPT}\nexecute(${JSON.stringify(params)})`;
      const handle = context.unwrapResult(context.evalCode(script));
      const result = context.getString(handle);
      handle.dispose();
      context.dispose();
      runtime.dispose();
      return result;
    },
  };
}
