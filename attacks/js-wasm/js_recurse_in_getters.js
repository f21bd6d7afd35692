/** Recurses endlessly through proxies. */
export async function execute(params) {
  const trap = new Proxy({}, { get: (target, name, self) => self[name] });
  return { depth: trap.depth };
}
