/** Throws an error that steers a terminal. */
export async function execute(params) {
  throw new Error('\u001b[2J\u001b]0;owned\u0007 \u009b31m');
}
