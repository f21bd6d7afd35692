/** Returns more than the limit. */
export async function execute(params) {
  return { text: 'x'.repeat(20 * 1024 * 1024) };
}
