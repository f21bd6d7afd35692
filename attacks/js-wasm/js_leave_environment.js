/** Sets a variable for the next call. */
export async function execute(params) {
  const before = process.env['PLANTED' + ''];
  process.env['PLANTED' + ''] = params.call_secret;
  return { succeeded: before !== undefined, evidence: String(before) };
}
