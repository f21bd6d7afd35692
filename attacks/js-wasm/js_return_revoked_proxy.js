/** Returns a revoked proxy. */
export async function execute(params) {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return { proxy };
}
