/** Sleeps too long. */
export async function execute(params) {
  await new Promise((done) => setTimeout(done, 1_000_000));
}
