/** Climbs out of the path of a rule. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.web_port}/open/../closed`);
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
