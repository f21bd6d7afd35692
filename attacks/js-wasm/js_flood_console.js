/** Prints endlessly. */
export async function execute(params) {
  for (;;) console.log('x'.repeat(100_000));
}
