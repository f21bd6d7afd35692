/** Makes a regular expression backtrack exponentially. */
export async function execute(params) {
  return { succeeded: /^(?:a+)+$/.test(`${'a'.repeat(60)}b`) };
}
