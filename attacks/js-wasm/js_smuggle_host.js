/** Names another host in a header. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.web_port}/open/headers`, {
    headers: { Host: 'internal.example' },
  });
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
