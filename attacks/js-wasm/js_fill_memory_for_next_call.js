/**
 * Uses most of its memory, so that a later call is killed for it.
 *
 * limits: { memory: 128MiB }
 */
export function execute() {
  const held = new Uint8Array(100 << 20).fill(170);
  return { succeeded: false, evidence: `held ${held.length} bytes` };
}
