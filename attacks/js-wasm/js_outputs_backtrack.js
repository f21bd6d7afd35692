/**
 * Returns a string that a pattern in its own outputs matches in exponential time.
 *
 * outputs: { text: { type: string, pattern: '^(a+)+$' } }
 */
export function execute() {
  return { text: `${'a'.repeat(60)}!` };
}
