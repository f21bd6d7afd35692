/** Returns an object that takes forever to read. */
export async function execute(params) {
  return {
    get slow() {
      for (;;);
    },
  };
}
