/**
 * Requirements on the mode: `minimum` by name and as a list, and `execution_mode` of a manifest.
 *
 * @module
 */
import { describe, expect, it } from 'vitest';
import type { Bundle } from '../../src/load/bundle.ts';
import { chooseMode, type Candidate, type ModeInput } from '../../src/policy/choose-mode.ts';
import { demandsOn } from '../../src/policy/minimum.ts';
import { parsePolicy, type OperatorPolicy } from '../../src/policy/operator.ts';
import { wideningKeys } from '../../src/policy/widening.ts';
import { thrownBy } from '../thrown.ts';
import { exampleManifest } from './example-manifest.ts';

const WASM: Candidate = { mode: 'wasm', wall: 'jail', engine: 'python-wasm' };
const ONE_WALL: Candidate = { ...WASM, wall: 'process' };
const JAIL: Candidate = { mode: 'subprocess', wall: 'jail', engine: 'python' };
const CONTAINER: Candidate = { mode: 'container', wall: 'container', engine: 'python' };
const IN_PROCESS: Candidate = { mode: 'in_process', wall: 'none', engine: 'node' };
const ALL = [WASM, JAIL, CONTAINER, IN_PROCESS];

const parse = (text: string): OperatorPolicy => parsePolicy(text, { file: 'p.yaml' });

interface Case extends Partial<ModeInput> {
  policy?: string;
  aliases?: string[];
  isolatedByManifest?: boolean;
}

function choose({ policy = '', aliases = [], isolatedByManifest = false, ...over }: Case) {
  const manifest = exampleManifest({
    name: 'compliance/audit',
    ...(isolatedByManifest ? { executionDemand: 'isolated' } : {}),
  });
  const bundle = { manifest, aliases, origin: 'project' } as unknown as Bundle;
  const { minimum, minimumSet = [], minimumRules } = parse(policy);
  return chooseMode({
    declared: [],
    isolated: false,
    origin: 'project',
    minimum: minimum.project,
    minimumIsSet: minimumSet.includes('project'),
    demands: demandsOn(bundle, minimumRules),
    candidates: ALL,
    ...over,
  });
}

describe('a minimum for a name', () => {
  it('of "container" is not met by a jail, although both have one wall', () => {
    const error = thrownBy(() =>
      choose({ policy: 'minimum: { compliance/*: container }', declared: ['subprocess'] }),
    );
    expect(error.code).toBe('untrusted');
    expect(error.message).toBe(
      'Refused to run the skill: "subprocess" is not enough: the policy requires at least "container" for "compliance/*"',
    );
    expect(error.fix).toBe(
      'Have its author list "wasm" or "container" under execution, so that it runs sandboxed, or have the operator change minimum."compliance/*" in the policy.',
    );
    const choice = choose({
      policy: 'minimum: { compliance/*: container }',
      declared: ['subprocess', 'container'],
    });
    expect(choice.candidate).toBe(CONTAINER);
    expect(choice.requires).toEqual(['the policy requires at least "container" for "compliance/*"']);
  });

  it('of "container" is met by Wasm in a jail, which is stronger, but not without the jail', () => {
    const policy = 'minimum: { compliance/*: container }';
    expect(choose({ policy, declared: ['wasm'] }).candidate).toBe(WASM);
    const error = thrownBy(() => choose({ policy, declared: ['wasm'], candidates: [ONE_WALL] }));
    expect(error.code).toBe('skill_unavailable');
    expect(error.message).toContain('at least "container" for "compliance/*"');
    expect(error.fix).toContain('Install bubblewrap');
    expect(error.fix).toContain('minimum."compliance/*"');
  });

  it('as a list allows exactly the listed modes', () => {
    const policy = 'minimum: { compliance/*: [container] }';
    expect(choose({ policy }).candidate).toBe(CONTAINER);
    const error = thrownBy(() => choose({ policy, requested: 'wasm' }));
    expect(error.message).toContain('the policy allows only "container" for "compliance/*"');
    expect(error.fix).toMatch(/^Leave out --execution/);
  });

  it('names the rule if the only allowed mode is not available here', () => {
    const refusal = { reason: 'its manifest names no image', fix: 'Name an image.' };
    const error = thrownBy(() =>
      choose({
        policy: 'minimum: { compliance/*: [container] }',
        candidates: [WASM, { ...CONTAINER, refusal }],
      }),
    );
    expect(error.code).toBe('skill_unavailable');
    expect(error.message).toContain('its manifest names no image');
    expect(error.message).toContain('"wasm" is not enough: the policy allows only "container"');
    expect(error.fix).toBe(
      'Name an image. Or have the operator change minimum."compliance/*" in the policy.',
    );
  });

  it('counts for every name of the skill, and not for others', () => {
    const policy = 'minimum: { finance/*: [container] }';
    expect(choose({ policy }).candidate).toBe(WASM);
    expect(choose({ policy, aliases: ['finance/audit'] }).candidate).toBe(CONTAINER);
  });

  it('cannot be lifted with --trust-remote-code', () => {
    const input = { declared: ['in_process'] as const, trustRemoteCode: true };
    expect(choose({ ...input, declared: ['in_process'] }).candidate).toBe(IN_PROCESS);
    const error = thrownBy(() =>
      choose({ ...input, declared: ['in_process'], policy: 'minimum: { "*": subprocess }' }),
    );
    expect(error.code).toBe('untrusted');
    expect(error.fix).not.toContain('--trust-remote-code');
  });

  it('of "subprocess" is met by every sandbox, as for origins', () => {
    const policy = 'minimum: { compliance/*: subprocess }';
    for (const one of [ONE_WALL, JAIL, CONTAINER])
      expect(choose({ policy, declared: [one.mode], candidates: [one] }).candidate).toBe(one);
  });

  it('says so if no mode meets all rules', () => {
    const policy = 'minimum: { compliance/*: [container], "*/audit": [wasm] }';
    const error = thrownBy(() => choose({ policy, declared: ['container'] }));
    expect(error.fix).toContain('no mode meets all of them');
    expect(error.message).toContain('"*/audit"');
  });

  it('widens nothing, so a file found in a project may set it', () => {
    expect(wideningKeys(parse('minimum: { compliance/*: container, project: [container] }'))).toEqual([]);
  });
});

describe('a minimum for an origin', () => {
  it('treats "container" and "subprocess" as equal, and takes a list of exact modes', () => {
    const declared: ModeInput['declared'] = ['subprocess', 'container'];
    expect(choose({ policy: 'minimum: { project: container }', declared }).candidate).toBe(JAIL);
    expect(choose({ policy: 'minimum: { project: [container] }', declared }).candidate).toBe(CONTAINER);
  });
});

describe('a policy file', () => {
  it.each([
    ['minimum: { compliance/*: in_process }', '"minimum.compliance/*"', 'can only raise'],
    ['minimum: { compliance/*: [] }', '"minimum.compliance/*"', 'or a list of'],
    ['minimum: { compliance/*: [in_process] }', '"minimum.compliance/*"', 'or a list of'],
    ['minimum: { compliance/*: jail }', '"minimum.compliance/*"', 'subprocess, wasm, container'],
    ['minimum: { project: jail }', '"minimum.project"', 'in_process'],
    ['minimum: { a/b/c: wasm }', '"minimum.a/b/c"', 'does not enforce'],
    ['minimum: { compliance: wasm }', '"minimum.compliance"', 'does not enforce'],
    ['minimum: [wasm]', '"minimum"', 'record'],
  ])('is refused with the place of the mistake: %s', (text, at, why) => {
    const error = thrownBy(() => parse(text));
    expect(error.code).toBe('usage');
    expect(error.message).toContain(at);
    expect(error.message).toContain(why);
  });
});

describe('execution_mode: isolated', () => {
  it('refuses in_process, even with --trust-remote-code', () => {
    const input: Case = {
      isolatedByManifest: true,
      declared: ['in_process', 'subprocess'],
      requested: 'in_process',
    };
    for (const trustRemoteCode of [false, true]) {
      const error = thrownBy(() => choose({ ...input, trustRemoteCode, minimum: 'in_process' }));
      expect(error.code).toBe('untrusted');
      expect(error.message).toContain('"execution_mode: isolated"');
      expect(error.fix).toMatch(/^Run it sandboxed with --execution subprocess/);
    }
  });

  it('refuses Wasm without a jail around it', () => {
    const error = thrownBy(() => choose({ isolatedByManifest: true, candidates: [ONE_WALL] }));
    expect(error.code).toBe('skill_unavailable');
    expect(error.message).toContain('"execution_mode: isolated"');
    expect(error.fix).toContain('Install bubblewrap');
    expect(choose({ candidates: [ONE_WALL] }).candidate).toEqual(ONE_WALL);
  });

  it.each([WASM, JAIL, CONTAINER])('accepts $mode in a $wall', (candidate) => {
    expect(choose({ isolatedByManifest: true, candidates: [candidate] }).candidate).toBe(candidate);
  });
});
