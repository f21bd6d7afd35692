/** Throws an error whose every field is megabytes long. */
export function execute() {
  const error = new Error('x'.repeat(2_000_000));
  error.name = 'N'.repeat(2_000_000);
  error.stack = 'S'.repeat(2_000_000);
  throw error;
}
