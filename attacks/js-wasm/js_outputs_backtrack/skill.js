/** Returns a text that its own outputs match in exponential time. */
export function execute() {
  return { text: `${'a'.repeat(60)}!` };
}
