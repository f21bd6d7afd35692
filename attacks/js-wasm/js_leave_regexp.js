/** Keeps a string in the last match of a regular expression. */
const WORD = /call/g;

export async function execute(params) {
  const before = WORD.lastIndex;
  WORD.test(params.call_secret);
  return { succeeded: before !== 0, evidence: String(before) };
}
