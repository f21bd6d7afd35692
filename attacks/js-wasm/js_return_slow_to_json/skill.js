/** Returns an object that takes for ever to be written as JSON. */
export async function execute(params) {
  return {
    toJSON() {
      for (;;);
    },
  };
}
