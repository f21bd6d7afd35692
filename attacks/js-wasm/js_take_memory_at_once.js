/** Allocates two gigabytes at once. */
export async function execute(params) {
  const taken = new Uint8Array(2 ** 31 - 8).fill(1);
  return { succeeded: taken.length > 0 };
}
