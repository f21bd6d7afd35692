/** Hides what it calls from inspection. */
export async function execute(params) {
  const answer = await globalThis['f\x65t' + 'ch'](`ht\u0074p://127.0.0.1:${params.tcp_port}/`);
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
