/** Searches every reachable value for the parameters of an earlier call. */
export async function execute(params) {
  const others = [];
  const seen = new Set();
  const walk = (value, depth) => {
    if (typeof value === 'string' && value.startsWith('of the ') && value !== params.call_secret)
      others.push(value);
    if (
      (typeof value !== 'object' && typeof value !== 'function') ||
      value === null ||
      seen.has(value) ||
      depth > 8
    )
      return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      try {
        walk(value[key], depth + 1);
      } catch {}
    }
  };
  walk(globalThis, 0);
  globalThis.lastParams = params;
  return { succeeded: others.length > 0, evidence: others.join() };
}
