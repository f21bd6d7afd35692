/** Starts timers without end. */
export async function execute(params) {
  for (;;) setTimeout(() => undefined, 1_000_000);
}
