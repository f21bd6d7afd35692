/** Sorts a list that is never in order. */
export async function execute(params) {
  const list = Array.from({ length: 5_000 }, (_, at) => at);
  for (;;) list.sort(() => (list.length % 2 ? 1 : -1));
}
