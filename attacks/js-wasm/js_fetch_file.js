/** Requests a file by its URL. */
export async function execute(params) {
  const answer = await fetch(`file://${params.secret_file}`);
  const text = await answer.text();
  return { succeeded: text.includes(params.marker), evidence: text };
}
