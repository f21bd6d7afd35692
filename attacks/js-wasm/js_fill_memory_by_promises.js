/** Fills the memory with promises. */
export async function execute(params) {
  const kept = [];
  for (;;) kept.push(new Promise(() => {}).then(() => kept));
}
