/** Gives all objects the fields that the harness looks for. */
export async function execute(params) {
  for (const name of [
    't',
    'type',
    'message',
    'limit',
    'denied',
    'explained',
    'value',
    'error',
    'kind',
    'code',
    'polluted',
  ])
    Object.defineProperty(Object.prototype, name, { configurable: true, writable: true, value: 'polluted' });
  return { succeeded: false };
}
