/** Requests a path that no rule covers. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.web_port}/closed`);
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
