/** Returns an object that takes for ever to be looked at. */
export async function execute(params) {
  return {
    get slow() {
      for (;;);
    },
  };
}
