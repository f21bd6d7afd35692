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
  const output = await call();
  const checked = async () => {
    const other = await call();
    if (other !== output) throw new Error(`A call returned ${other} instead of ${output}`);
    return { ok: true };
  };
  for (let calls = 0; calls < CALLS_BEFORE; calls++) await checked();
  return { ...(await measureThroughput({ callers, seconds, call: checked })), output };
}
