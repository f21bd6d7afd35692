/** Ends the process. */
export async function execute(params) {
  process.exit(0);
}
