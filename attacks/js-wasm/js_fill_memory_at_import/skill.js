/** Fills the memory while it is loaded. */
const kept = [];
for (;;) kept.push(new Uint8Array(1 << 20).fill(1));

export function execute() {}
