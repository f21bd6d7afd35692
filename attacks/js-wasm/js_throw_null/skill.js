/** Throws nothing. */
export async function execute(params) {
  throw null;
}
