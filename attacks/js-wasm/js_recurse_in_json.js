/** Parses and serializes deeply nested JSON. */
export async function execute(params) {
  const depth = 400_000;
  const made = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  return JSON.stringify(made).length;
}
