/** Puts a line of its own into a header. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.web_port}/open/headers`, {
    headers: { 'X-Plain': 'a\r\nX-Injected: b' },
  });
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
