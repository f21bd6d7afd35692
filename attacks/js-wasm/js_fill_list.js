/** Fills an array of four billion elements. */
export async function execute(params) {
  const list = new Array(2 ** 32 - 1).fill(0);
  return { succeeded: list.length > 0 };
}
