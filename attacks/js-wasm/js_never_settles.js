/** Returns a promise that never settles. */
export async function execute(params) {
  return new Promise(() => {});
}
