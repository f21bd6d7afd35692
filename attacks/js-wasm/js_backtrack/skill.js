/** Has an expression try every way to fail. */
export async function execute(params) {
  return { succeeded: /^(?:a+)+$/.test(`${'a'.repeat(60)}b`) };
}
