/** Starves the host with an endless chain of promises. */
export async function execute(params) {
  const next = () => Promise.resolve().then(next);
  await next();
}
