/** Throws an error that is its own cause. */
export async function execute(params) {
  const circle = new Error('circle');
  throw Object.assign(circle, { cause: circle });
}
