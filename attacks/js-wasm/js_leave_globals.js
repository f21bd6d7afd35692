/** Leaves a global variable for the next call. */
export async function execute(params) {
  const before = globalThis.planted;
  globalThis.planted = params.call_secret;
  return { succeeded: before !== undefined, evidence: String(before) };
}
