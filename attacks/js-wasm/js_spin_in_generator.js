/** Iterates an endless generator. */
export async function execute(params) {
  for (const one of (function* () {
    for (let at = 0; ; at++) yield at;
  })())
    if (one < 0) break;
}
