/** Fills the memory. */
export async function execute(params) {
  const kept = [];
  for (;;) kept.push(new Uint8Array(1 << 20).fill(1));
}
