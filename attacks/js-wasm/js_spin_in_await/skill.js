/** Starves the host by waiting for what is there. */
export async function execute(params) {
  for (;;) await undefined;
}
