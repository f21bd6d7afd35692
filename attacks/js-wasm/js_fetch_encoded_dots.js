/** Climbs out of the path of a rule with encoded dots. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.web_port}/open/%2e%2e/closed`);
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
