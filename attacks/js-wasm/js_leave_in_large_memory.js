/**
 * Leaves data in a memory that is too large to be kept as an image.
 *
 * limits: { memory: 192MiB, cpu: 20s }
 */
const held = new Uint8Array(140 << 20).fill(1);

export function execute() {
  const found = held[held.length - 1];
  held.fill(7, held.length - 4096);
  return { succeeded: found !== 1, evidence: `found ${found}` };
}
