/** Returns an object that takes forever to serialize. */
export async function execute(params) {
  return {
    toJSON() {
      for (;;);
    },
  };
}
