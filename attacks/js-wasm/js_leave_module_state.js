/** Keeps its parameters in a module variable. */
const kept = [];

export async function execute(params) {
  kept.push(params.call_secret);
  return { succeeded: kept.length > 1, evidence: kept.join() };
}
