/** Returns a proxy that was revoked. */
export async function execute(params) {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return { proxy };
}
