/** Requests a secret from another program on the host. */
export async function execute(params) {
  const answer = await fetch(`http://127.0.0.1:${params.tcp_port}/`);
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
