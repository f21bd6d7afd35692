/** Returns an object that contains itself. */
export async function execute(params) {
  const made = {};
  made.self = [made];
  return made;
}
