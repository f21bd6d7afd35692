/** Replaces array iterators for the next call. */
export async function execute(params) {
  const before = Array.prototype[Symbol.iterator].planted ?? Object.getPrototypeOf([].values()).next.planted;
  const planted = Object.assign(function* () {}, { planted: true });
  Object.getPrototypeOf([].values()).next = Object.assign(() => ({ done: true }), { planted: true });
  Array.prototype[Symbol.iterator] = planted;
  return { succeeded: before === true, evidence: String(before) };
}
