/** Starves the host by awaiting settled values. */
export async function execute(params) {
  for (;;) await undefined;
}
