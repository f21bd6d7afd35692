/** Returns a number that JSON does not have. */
export async function execute(params) {
  return { big: 10n ** 100n };
}
