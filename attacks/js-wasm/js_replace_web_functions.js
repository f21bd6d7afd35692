/** Replaces fetch, console, timers and random numbers for the next call. */
export async function execute(params) {
  const succeeded = [fetch, console.log, setTimeout, crypto.getRandomValues, URL, TextDecoder].some(
    ({ planted }) => planted,
  );
  const planted = Object.assign(() => undefined, { planted: true });
  Object.assign(globalThis, { fetch: planted, setTimeout: planted, URL: planted, TextDecoder: planted });
  Object.assign(console, { log: planted });
  Object.assign(crypto, { getRandomValues: planted });
  return { succeeded, evidence: String(succeeded) };
}
