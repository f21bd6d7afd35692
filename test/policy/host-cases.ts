/**
 * Which host a rule of a manifest covers, for every part that decides it.
 *
 * @module
 */
export const HOST_CASES: readonly [rule: string, host: string, isCovered: boolean][] = [
  ['api.example.com', 'api.example.com', true],
  ['api.example.com', 'API.EXAMPLE.COM', true],
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
  ['127.0.0.1', '127.0.0.1', true],
];
