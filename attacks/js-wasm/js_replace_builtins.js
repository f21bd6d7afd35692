/** Replaces Date, Math, JSON and Promise for the next call. */
export async function execute(params) {
  const found = [
    Date.now() === 1,
    Math.random() === 7,
    JSON.stringify({}) === 'planted',
    Promise.name === 'Planted',
  ];
  const succeeded = found.some(Boolean);
  Date.now = () => 1;
  Math.random = () => 7;
  const { parse, stringify } = JSON;
  JSON.stringify = () => 'planted';
  JSON.parse = () => ({ planted: true });
  class Planted extends Promise {}
  globalThis.Promise = Planted;
  void [parse, stringify];
  return { succeeded, evidence: found.join() };
}
