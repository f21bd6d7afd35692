/** Leaves promises that continue after the result. */
let runs = 0;

export async function execute(params) {
  const before = runs;
  const go = async () => {
    for (let left = 1000; left > 0; left--) {
      runs++;
      await undefined;
    }
  };
  void go();
  return { succeeded: before > 0, evidence: String(before) };
}
