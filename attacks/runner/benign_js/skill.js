/** Adds two numbers. */
export function execute({ a, b }) {
  return { sum: a + b };
}
