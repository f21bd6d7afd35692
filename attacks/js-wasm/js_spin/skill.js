/** Never ends. */
export async function execute(params) {
  for (;;);
}
