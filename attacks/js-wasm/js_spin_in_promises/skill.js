/** Starves the host by promises that follow each other. */
export async function execute(params) {
  const next = () => Promise.resolve().then(next);
  await next();
}
