/** Compiles a deeply nested regular expression. */
export async function execute(params) {
  const depth = 200_000;
  return { value: new RegExp(`${'('.repeat(depth)}${')'.repeat(depth)}`).test('') };
}
