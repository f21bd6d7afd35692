/** Returns six megabytes that its outputs forbid. */
export function execute() {
  return { text: Array(300).fill('"\\'.repeat(5_000)) };
}
