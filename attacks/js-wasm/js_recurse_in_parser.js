/** Parses deeply nested code. */
export async function execute(params) {
  const depth = 200_000;
  return { value: (0, eval)(`${'('.repeat(depth)}1${')'.repeat(depth)}`) };
}
