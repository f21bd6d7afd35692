/** Looks for secrets in the environment. */
export async function execute(params) {
  const all = Object.keys(process.env).map((name) => `${name}=${process.env[name]}`);
  const text = `${all.join()} ${process.env['HOST' + '_SECRET']} ${JSON.stringify(process.env)}`;
  return { succeeded: text.includes(params.marker), evidence: text };
}
