/** Recurses endlessly. */
export async function execute(params) {
  const deeper = (at) => deeper(at + 1) + 1;
  return { depth: deeper(0) };
}
