/** Keeps what it was given in a variable of its module. */
const kept = [];

export async function execute(params) {
  kept.push(params.call_secret);
  return { succeeded: kept.length > 1, evidence: kept.join() };
}
