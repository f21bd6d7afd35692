import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import type { Mode } from '../../src/vocabulary/modes.ts';
import { chooseMode, type Candidate, type ModeInput } from '../../src/policy/choose-mode.ts';
import { thrownBy } from '../thrown.ts';

const WASM: Candidate = { mode: 'wasm', wall: 'jail', engine: 'python-wasm' };
const JAIL: Candidate = { mode: 'subprocess', wall: 'jail', engine: 'python' };
const CONTAINER: Candidate = { mode: 'container', wall: 'container', engine: 'exec' };
const IN_PROCESS: Candidate = { mode: 'in_process', wall: 'none', engine: 'node' };
const missing = (candidate: Candidate): Candidate => ({
  ...candidate,
  refusal: { reason: `no ${candidate.wall} here`, fix: `Install ${candidate.wall}.` },
});

function input(over: Partial<ModeInput> = {}): ModeInput {
  return {
    declared: [],
    isolated: false,
    origin: 'project',
    minimum: 'in_process',
    candidates: [WASM, JAIL, CONTAINER, IN_PROCESS],
    ...over,
  };
}

it('a mode reports why the modes intended for the skill cannot be used', () => {
  const refusal = { reason: 'no python skill', fix: 'none' };
  const unfit: Candidate = { ...CONTAINER, engine: 'python', unfit: true, refusal };
  const declared: Mode[] = ['container'];
  const error = thrownBy(() => chooseMode(input({ declared, candidates: [unfit, missing(CONTAINER)] })));
  expect(error.message).toContain('no container here');
  expect(error.message).not.toContain('no python skill');
  expect(error.fix).toBe('Install container.');
  const alone = thrownBy(() => chooseMode(input({ declared, candidates: [unfit] })));
  expect(alone.message).toContain('no python skill');
});

describe('chooseMode', () => {
  it('chooses the strongest working mode if the manifest leaves it open, and reports what it skipped', () => {
    expect(chooseMode(input()).candidate).toBe(WASM);
    const choice = chooseMode(input({ candidates: [missing(WASM), JAIL] }));
    expect(choice.candidate).toBe(JAIL);
    expect(choice.reason).toContain('no jail here');
  });

  it('follows the order of the manifest, not the strength', () => {
    const choice = chooseMode(input({ declared: ['subprocess', 'wasm'] }));
    expect(choice.candidate).toBe(JAIL);
    expect(choice.reason).toContain("manifest's list");
  });

  it('chooses the mode that the caller asks for', () => {
    const choice = chooseMode(input({ declared: ['wasm', 'container'], requested: 'container' }));
    expect(choice.candidate).toBe(CONTAINER);
    expect(choice.reason).toContain('--execution');
  });

  it('chooses another engine of the same mode if the first refuses the bundle', () => {
    const node: Candidate = { mode: 'subprocess', wall: 'jail', engine: 'node' };
    expect(chooseMode(input({ candidates: [missing(JAIL), node] })).candidate).toBe(node);
  });

  it('skips a listed mode that is too weak', () => {
    const choice = chooseMode(input({ declared: ['in_process', 'subprocess'], minimum: 'subprocess' }));
    expect(choice.candidate).toBe(JAIL);
    expect(choice.reason).toContain('weaker');
  });

  it('reports that the manifest prefers another mode', () => {
    const declared: Mode[] = ['wasm', 'subprocess'];
    expect(chooseMode(input({ declared })).fallback).toBeUndefined();
    expect(chooseMode(input({ declared, candidates: [missing(WASM), JAIL] })).fallback).toBe(
      'Runs as "subprocess"; not as wasm: no jail here',
    );
    expect(chooseMode(input({ candidates: [missing(WASM), JAIL] })).fallback).toBeUndefined();
  });

  it('names the mode that would work if the requested one does not', () => {
    const candidates = [missing(WASM), JAIL];
    const error = thrownBy(() => chooseMode(input({ requested: 'wasm', candidates })));
    expect(error).toMatchObject({ code: 'skill_unavailable' });
    expect(error.fix).toContain('--execution subprocess');
    const alone = thrownBy(() => chooseMode(input({ requested: 'wasm', candidates: [missing(WASM)] })));
    expect(alone.fix).toContain('Install jail.');
  });

  it('treats a container as equally strong as a subprocess', () => {
    expect(chooseMode(input({ requested: 'container', minimum: 'subprocess' })).candidate).toBe(CONTAINER);
    expect(chooseMode(input({ requested: 'subprocess', minimum: 'container' })).candidate).toBe(JAIL);
  });

  it('refuses a mode that the manifest does not list', () => {
    const error = thrownBy(() => chooseMode(input({ declared: ['wasm'], requested: 'subprocess' })));
    expect(error.code).toBe('usage');
    expect(error.fix).toContain('--execution wasm');
  });

  it('says what to install if the mode is not available', () => {
    const error = thrownBy(() =>
      chooseMode(input({ declared: ['subprocess'], candidates: [missing(JAIL)] })),
    );
    expect(error.code).toBe('skill_unavailable');
    expect(error.message).toContain('no jail here');
    expect(error.fix).toBe('Install jail.');
  });

  it('reports that nothing can run the skill, or that the mode does not exist here', () => {
    expect(thrownBy(() => chooseMode(input({ candidates: [] }))).code).toBe('skill_unavailable');
    const error = thrownBy(() => chooseMode(input({ declared: ['wasm'], candidates: [JAIL] })));
    expect(error.code).toBe('skill_unavailable');
    expect(error.fix).toContain('doctor');
  });

  it('refuses a mode below the minimum for the origin', () => {
    const error = thrownBy(() => chooseMode(input({ requested: 'subprocess', minimum: 'wasm' })));
    expect(error.code).toBe('untrusted');
    expect(error.message).toContain('minimum for project skills');
    expect(error.fix).toContain('minimum.project');
  });

  it('counts wasm without a jail as one wall: enough for subprocess, not enough for wasm', () => {
    const plain: Candidate = { ...WASM, wall: 'process' };
    for (const minimum of ['in_process', 'subprocess', 'container'] as const)
      expect(chooseMode(input({ minimum, isolated: true, candidates: [plain] })).candidate).toBe(plain);
    expect(chooseMode(input({ minimum: 'wasm' })).candidate).toBe(WASM);
    const error = thrownBy(() => chooseMode(input({ minimum: 'wasm', candidates: [plain, JAIL] })));
    expect(error.code).toBe('skill_unavailable');
    expect(error.message).toContain('no jail can be created');
    expect(error.fix).toContain('Install bubblewrap');
    expect(error.fix).toContain('minimum.project');
  });

  it('refuses in_process with --isolated', () => {
    const error = thrownBy(() => chooseMode(input({ declared: ['in_process'], isolated: true })));
    expect(error.code).toBe('untrusted');
    expect(error.fix).toContain('--isolated');
  });

  describe('in_process', () => {
    const alone = { declared: ['in_process'] as Mode[], minimum: 'subprocess' as const };

    it('runs an untrusted skill only if the caller vouches for it, and suggests the sandboxed alternative first', () => {
      const error = thrownBy(() => chooseMode(input({ ...alone, origin: 'external' })));
      expect(error.code).toBe('untrusted');
      expect(error.fix).toMatch(/sandboxed.*--trust-remote-code/);
      const listed = thrownBy(() =>
        chooseMode(input({ ...alone, declared: ['in_process', 'wasm'], requested: 'in_process' })),
      );
      expect(listed.fix).toContain('--execution wasm');
      const vouched = input({ ...alone, origin: 'external', trustRemoteCode: true });
      expect(chooseMode(vouched).candidate).toBe(IN_PROCESS);
    });

    it('stays disabled if the operator disabled it, even if the caller vouches for the skill', () => {
      const error = thrownBy(() =>
        chooseMode(input({ ...alone, minimumIsSet: true, trustRemoteCode: true })),
      );
      expect(error.code).toBe('untrusted');
      expect(error.fix).toContain('minimum.project');
    });

    it('needs the flag even if the operator allows it, unless the skill is bundled', () => {
      const lowered = { declared: ['in_process'] as Mode[], minimumIsSet: true };
      expect(thrownBy(() => chooseMode(input(lowered))).code).toBe('untrusted');
      expect(chooseMode(input({ ...lowered, trustRemoteCode: true })).candidate).toBe(IN_PROCESS);
      expect(chooseMode(input({ ...lowered, origin: 'bundled' })).candidate).toBe(IN_PROCESS);
    });

    it('is never chosen implicitly', () => {
      const open = input({ candidates: [IN_PROCESS], trustRemoteCode: true, origin: 'bundled' });
      expect(thrownBy(() => chooseMode(open)).code).toBe('skill_unavailable');
    });
  });

  it('never chooses a mode that is unlisted, unavailable or too weak', () => {
    const modes: Mode[] = ['in_process', 'subprocess', 'container', 'wasm'];
    const strength = { in_process: 0, subprocess: 1, container: 1, wasm: 2 };
    const all = [WASM, JAIL, CONTAINER, IN_PROCESS];
    fc.assert(
      fc.property(
        fc.record({
          declared: fc.subarray(modes),
          isolated: fc.boolean(),
          minimum: fc.constantFrom(...modes),
          minimumIsSet: fc.boolean(),
          trustRemoteCode: fc.boolean(),
          origin: fc.constantFrom('bundled' as const, 'external' as const),
          requested: fc.option(fc.constantFrom(...modes), { nil: undefined }),
          candidates: fc.tuple(...all.map((one) => fc.constantFrom(one, missing(one)))),
        }),
        ({ requested, ...rest }) => {
          const asked = requested === undefined ? {} : { requested };
          try {
            const { candidate } = chooseMode(input({ ...rest, ...asked }));
            expect(candidate.refusal).toBeUndefined();
            const isBelow = strength[candidate.mode] < strength[rest.minimum];
            if (isBelow) expect(rest).toMatchObject({ trustRemoteCode: true, minimumIsSet: false });
            if (isBelow) expect(candidate.mode).toBe('in_process');
            if (candidate.mode === 'in_process' && rest.origin !== 'bundled')
              expect(rest.trustRemoteCode).toBe(true);
            if (rest.isolated) expect(candidate.mode).not.toBe('in_process');
            if (rest.declared.length > 0) expect(rest.declared).toContain(candidate.mode);
            if (requested !== undefined) expect(candidate.mode).toBe(requested);
          } catch (error) {
            if (!(error instanceof SkillError)) throw error;
            expect(['usage', 'untrusted', 'skill_unavailable']).toContain(error.code);
            expect(error.fix).not.toBe('');
          }
        },
      ),
    );
  });
});
