/** Leaves an unhandled rejection. */
export async function execute(params) {
  void Promise.reject(new Error('unheard'));
  await new Promise((done) => setTimeout(done, 5));
  return { succeeded: false };
}
