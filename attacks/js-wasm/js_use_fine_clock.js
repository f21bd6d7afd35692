/** Measures with a clock that is fine enough to time caches. */
export function execute() {
  let finest = Infinity;
  for (let round = 0; round < 200; round++) {
    const start = performance.now();
    let now = start;
    while (now === start) now = performance.now();
    finest = Math.min(finest, now - start);
  }
  return { succeeded: finest < 0.05, evidence: `steps of ${finest} ms` };
}
