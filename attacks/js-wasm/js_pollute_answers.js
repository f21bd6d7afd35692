/** Gives all objects the fields of a failure, and waits for an answer of the host. */
export async function execute(params) {
  Object.prototype.error = { code: 'polluted', message: 'polluted' };
  await new Promise((done) => setTimeout(done, 1));
  return { succeeded: false };
}
