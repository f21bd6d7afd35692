/** Keeps weak references to the parameters of an earlier call. */
const references = [];
const finalized = [];
const registry = new FinalizationRegistry((value) => finalized.push(value));

export async function execute(params) {
  const before = references.map((one) => one.deref()?.call_secret).filter(Boolean);
  references.push(new WeakRef(params));
  registry.register(params, params.call_secret);
  return { succeeded: before.length > 0 || finalized.length > 0, evidence: [...before, ...finalized].join() };
}
