/** Leaves timers that continue after the result. */
let ticks = 0;

export async function execute(params) {
  const before = ticks;
  setInterval(() => ticks++, 1);
  await new Promise((done) => setTimeout(done, 5));
  setTimeout(() => (ticks += 1000), 2);
  return { succeeded: before > 0, evidence: String(before) };
}
