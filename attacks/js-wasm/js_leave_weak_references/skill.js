/** Keeps weak references to what an earlier call was given. */
const references = [];
const finalized = [];
const registry = new FinalizationRegistry((value) => finalized.push(value));

export async function execute(params) {
  const before = references.map((one) => one.deref()?.call_secret).filter(Boolean);
  references.push(new WeakRef(params));
  registry.register(params, params.call_secret);
  return { succeeded: before.length > 0 || finalized.length > 0, evidence: [...before, ...finalized].join() };
}
