/**
 * Returns six megabytes that its outputs forbid.
 *
 * outputs: { text: { type: string } }
 * limits: { output: 16MB, memory: 256MB }
 */
export function execute() {
  return { text: Array(300).fill('"\\'.repeat(5_000)) };
}
