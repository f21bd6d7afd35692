/**
 * Callers without a pause, with the same code as our own throughput. `call` returns the output of one call; every output must be
 * that of the first call, because a sandbox that does less would look fast. A failed call ends the load: the answer is its error.
 */
import { measureThroughput } from '../runner/throughput.ts';

/** As many as our cells serve before they are measured. */
const CALLS_BEFORE = 20;

export async function measureLoad(call, load) {
  try {
    return await measure(call, load);
  } catch (error) {
    return { error: String(error.message ?? error) };
  }
}

async function measure(call, { callers, seconds }) {
  let output;
  const measured = async () => {
    output = await call();
    return { ok: true, result: output };
  };
  for (let calls = 0; calls < CALLS_BEFORE; calls++) await measured();
  return { ...(await measureThroughput({ callers, seconds, call: measured })), output };
}
