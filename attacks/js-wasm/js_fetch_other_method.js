/** Uses a method that no rule covers. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.web_port}/open/harmless`, {
    method: 'POST',
    body: 'x',
  });
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
