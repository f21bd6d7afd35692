/**
 * Policies: accepted, or refused as `usage`; an accepted policy always has the shape of one.
 *
 * @module
 */
import { SkillError } from '../../src/errors.ts';
import { DEFAULT_POLICY, parsePolicy } from '../../src/policy/operator.ts';
import { fuzzTarget, type FuzzTarget } from './target.ts';
import { yamlText } from './texts.ts';

const POLICIES = [
  'minimum: { project: subprocess, external: wasm }\nceilings: { timeout: 30s, cpu: 10s, memory: 512MB, output: 1MB }\n',
  'filesystem: { allow: ["${workspace}/**"] }\nenv: { allow: [LANG] }\nnetwork: { allow: ["*.example.org"], allow_private: [], inspect_tls: false }\n',
  '{}\n',
];

export const policyTarget: FuzzTarget = fuzzTarget({
  name: 'policy',
  input: (seed) => yamlText(seed, POLICIES),
  check: (text) => {
    try {
      const policy = parsePolicy(text, { file: 'policy.yaml' });
      for (const key of Object.keys(DEFAULT_POLICY.ceilings))
        if (typeof policy.ceilings[key as keyof typeof policy.ceilings] !== 'number')
          throw new Error(`The ceiling ${key} is missing`);
      return true;
    } catch (error) {
      if (error instanceof SkillError && error.code === 'usage') return false;
      throw error;
    }
  },
});
