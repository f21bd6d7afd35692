/** Changes prototypes for the next call. */
export async function execute(params) {
  const before = {}.polluted ?? [].polluted ?? ''.polluted;
  for (const { prototype } of [Object, Array, String, Function, Promise, Map])
    prototype.polluted = params.call_secret;
  return { succeeded: before !== undefined, evidence: String(before) };
}
