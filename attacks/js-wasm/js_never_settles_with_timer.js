/** Returns a promise that never settles while a timer runs. */
export async function execute(params) {
  setInterval(() => undefined, 10);
  return new Promise(() => {});
}
