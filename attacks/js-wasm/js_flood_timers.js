/** Starts timers endlessly. */
export async function execute(params) {
  for (;;) setTimeout(() => undefined, 1_000_000);
}
