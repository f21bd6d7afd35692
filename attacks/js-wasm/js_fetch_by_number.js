/** Writes the address of the host as a number. */
export async function execute(params) {
  const answer = await fetch(`http://2130706433:${params.tcp_port}/`);
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
