import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../src/policy/operator.ts';
import { wideningKeys } from '../../src/policy/widening.ts';

const keysOf = (text: string): string[] => wideningKeys(parsePolicy(text, { file: '/p.yaml' }));

describe('the list of keys that widen the default policy', () => {
  it.each([
    [''],
    ['minimum: { bundled: wasm, project: wasm, installed: container }'],
    ['ceilings: { timeout: 1s, memory: 64MiB, processes: 0 }'],
    ['filesystem: { allow: ["${workspace}/in/**", "${workspace}"] }'],
    ['filesystem: { allow: [] }\nenv: { allow: [] }\nnetwork: { allow: ["*.example.org"] }'],
    ['secrets: [environment]'],
    ['network: { inspect_tls: false, trace_context: false }'],
    ['skills: [{ match: "*", decision: allow }]\nguard: [{ decision: ask, reason: always }]'],
  ])('is empty for %j', (text) => {
    expect(keysOf(text)).toEqual([]);
  });

  it.each([
    ['minimum: { project: in_process, external: in_process }', ['minimum.project', 'minimum.external']],
    ['ceilings: { timeout: 1h, memory: 64MiB }', ['ceilings.timeout']],
    ['filesystem: { allow: ["${workspace}/**", "/home/**"] }', ['filesystem.allow']],
    ['filesystem: { allow: ["/**"] }', ['filesystem.allow']],
    ['network: { allow_private: ["127.0.0.1"] }', ['network.allow_private']],
    ['network: { inspect_tls: true }', ['network.inspect_tls']],
    ['network: { trace_context: true }', ['network.trace_context']],
    ['secrets: [{ command: ["/bin/true"] }]', ['secrets']],
    ['secrets: [environment, { file: /home/me/keys }]', ['secrets']],
  ])('names the widening keys of %j', (text, keys) => {
    expect(keysOf(text)).toEqual(keys);
  });
});
