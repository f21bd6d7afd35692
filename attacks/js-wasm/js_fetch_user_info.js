/** Hides the host behind an allowed one. */
export async function execute(params) {
  const url = `http://127.0.0.1:${params.web_port}@127.0.0.1:${params.tcp_port}/open/harmless`;
  const text = await (await fetch(url)).text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
