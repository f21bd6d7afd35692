/** Raises large numbers to large powers. */
export async function execute(params) {
  let big = 3n;
  for (;;) big = big ** 3n % 2n ** 100_000n;
}
