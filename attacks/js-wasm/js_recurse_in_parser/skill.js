/** Has deep code be parsed. */
export async function execute(params) {
  const depth = 200_000;
  return { value: (0, eval)(`${'('.repeat(depth)}1${')'.repeat(depth)}`) };
}
