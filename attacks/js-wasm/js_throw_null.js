/** Throws null. */
export async function execute(params) {
  throw null;
}
