/** Throws an error with terminal control codes. */
export async function execute(params) {
  throw new Error('\u001b[2J\u001b]0;owned\u0007 \u009b31m');
}
