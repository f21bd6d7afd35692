/** Requests more than it can hold. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.web_port}/open/huge`);
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
