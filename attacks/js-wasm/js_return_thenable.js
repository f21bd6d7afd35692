/** Returns a thenable that never settles. */
export async function execute(params) {
  return { then() {} };
}
