/** Returns a promise that never settles, beside a timer. */
export async function execute(params) {
  setInterval(() => undefined, 10);
  return new Promise(() => {});
}
