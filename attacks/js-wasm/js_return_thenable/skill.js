/** Returns what looks like a promise and never settles. */
export async function execute(params) {
  return { then() {} };
}
