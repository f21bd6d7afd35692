/** Blocks its thread on shared memory. */
export async function execute(params) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return { succeeded: true };
}
