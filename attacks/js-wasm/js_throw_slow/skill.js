/** Throws an error that takes for ever to be read. */
export async function execute(params) {
  throw Object.defineProperty(new Error('x'), 'message', {
    get() {
      for (;;);
    },
  });
}
