/** Puts a second request into the method. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.web_port}/open/harmless`, {
    method: 'GET /closed HTTP/1.1\r\nHost: x\r\n\r\nGET',
  });
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
