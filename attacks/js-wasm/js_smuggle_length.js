/** Makes the end of its request ambiguous. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.web_port}/open/headers`, {
    headers: { 'Transfer-Encoding': 'chunked' },
  });
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
