/**
 * Which host a rule covers, for every part that decides it.
 *
 * @module
 */
export const HOST_CASES: readonly [rule: string, host: string, isCovered: boolean][] = [
  ['api.example.com', 'api.example.com', true],
  ['API.example.com.', 'api.EXAMPLE.com', true],
  ['example.com', 'api.example.com', false],
  ['*.example.com', 'api.example.com', true],
  ['*.example.com', 'a.b.example.com', true],
  ['*.example.com', 'example.com', false],
  ['*.example.com', 'badexample.com', false],
  ['*.example.com', '.example.com', false],
  ['*.example.com', '*.example.com', true],
  ['*.example.com', '*.api.example.com', true],
  ['*.api.example.com', '*.example.com', false],
  ['api.example.com', '*.example.com', false],
  ['[::1]', '::1', true],
  ['127.0.0.1', '127.0.0.1', true],
];
