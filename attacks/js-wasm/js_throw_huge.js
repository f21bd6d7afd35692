/** Throws an error of many megabytes. */
export async function execute(params) {
  throw new Error('x'.repeat(8 * 1024 * 1024));
}
