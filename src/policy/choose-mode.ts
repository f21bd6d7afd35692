/**
 * Chooses the mode of a call from the caller's request, the manifest's preference, the operator's minimum for this
 * origin, and the modes of this machine. Pure; the result includes the reason.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Origin } from '../vocabulary/origins.ts';
import { MODES, PREFERRED_MODES, type Mode } from '../vocabulary/modes.ts';
import type { Place } from '../vocabulary/place.ts';
import type { Demand } from './minimum.ts';

/** One way to run the bundle on this machine. */
export interface Candidate extends Place {
  /** Why it cannot be used here; absent if it can. */
  refusal?: { reason: string; fix: string };
  /** Not meant for such bundles at all, so the refusals of other candidates of the mode are more informative. */
  unfit?: boolean;
}

export interface ModeInput {
  /** From the manifest, in order of preference; empty means the strongest that works. */
  declared: Mode[];
  /** `--execution`. */
  requested?: Mode;
  /** `--isolated`. */
  isolated: boolean;
  origin: Origin;
  /** The operator's minimum for this origin. */
  minimum: Mode;
  /** The operator set the minimum explicitly, so no flag of a caller can go below it. */
  minimumIsSet?: boolean;
  /** Requirements of the manifest and of the operator's rules; no flag of a caller can go below them. */
  demands?: readonly Demand[];
  /** `--trust-remote-code`: the caller vouches for the code. */
  trustRemoteCode?: boolean;
  /** Strongest first. */
  candidates: Candidate[];
}

export interface ModeChoice {
  candidate: Candidate;
  /** Why this one was chosen, for `inspect` and `--explain`. */
  reason: string;
  /** Set if the manifest prefers another mode. */
  fallback?: string;
  /** What manifest and policy require of the mode, beyond the minimum for the origin. */
  requires?: string[];
}

/** Chooses the candidate, or throws with the exact obstacles. */
export function chooseMode(given: ModeInput): ModeChoice {
  const input = { ...given, candidates: given.candidates.map((one) => withRequiredWall(one, given)) };
  assertDeclared(input);
  const wanted = wantedModes(input);
  const strongEnough = wanted.filter((mode) => tooWeak(mode, input) === undefined);
  for (const mode of strongEnough) {
    const candidate = input.candidates.find((one) => one.mode === mode && one.refusal === undefined);
    if (candidate) return choice(candidate, input, skippedModes(mode, input, wanted));
  }
  throw strongEnough.length > 0 || wanted.length === 0
    ? unavailable(strongEnough, input)
    : untrusted(wanted, input);
}

/** `wasm` as a minimum means two walls. Without a jail there is one, which is only as strong as `subprocess`. */
function withRequiredWall(candidate: Candidate, { minimum, origin, demands = [] }: ModeInput): Candidate {
  const isOneWall = candidate.mode === 'wasm' && candidate.wall !== 'jail';
  if (!isOneWall || candidate.refusal !== undefined) return candidate;
  const install = 'Install bubblewrap and see `skillcell doctor`';
  if (minimum === 'wasm') {
    const reason = `the operator requires "wasm" for ${origin} skills, which means two walls, and no jail can be created here`;
    const fix = `${install}, or have the operator lower minimum.${origin} in the policy.`;
    return { ...candidate, refusal: { reason, fix } };
  }
  const unmet = demands.find(({ needsJail, accepts }) => needsJail && accepts.includes('wasm'));
  if (!unmet) return candidate;
  const reason = `${unmet.requirement}, and no jail can be created here to put around WebAssembly`;
  return { ...candidate, refusal: { reason, fix: `${install}, or ${unmet.remedy}.` } };
}

function assertDeclared({ declared, requested }: ModeInput): void {
  if (requested === undefined || declared.length === 0 || declared.includes(requested)) return;
  const list = declared.map((mode) => `"${mode}"`).join(', ');
  throw new SkillError('usage', `The skill does not run as "${requested}": its manifest lists ${list}`, {
    fix: `Use --execution ${declared[0]}, or leave the option out.`,
    detail: { requested, declared },
  });
}

function wantedModes({ declared, requested, candidates }: ModeInput): Mode[] {
  if (requested !== undefined) return [requested];
  if (declared.length > 0) return declared;
  // in_process is never chosen implicitly.
  const isolating = candidates.filter(({ mode }) => mode !== 'in_process');
  return [...new Set(isolating.map((candidate) => candidate.mode))];
}

/** Why the mode is too weak for this call; undefined if it is strong enough. */
function tooWeak(mode: Mode, input: ModeInput): string | undefined {
  const { isolated, minimum, origin } = input;
  const unmet = unmetDemand(mode, input);
  if (unmet) return `"${mode}" is not enough: ${unmet.requirement}`;
  if (mode === 'in_process' && isVouchedFor(input)) return undefined;
  if (MODES[mode].strength < MODES[minimum].strength) {
    return `"${mode}" is weaker than "${minimum}", the minimum for ${origin} skills`;
  }
  if (isolated && MODES[mode].strength < MODES.subprocess.strength) {
    return `"${mode}" is weaker than "subprocess", which --isolated requires`;
  }
  if (mode === 'in_process' && origin !== 'bundled')
    return `"in_process" would run the code of this ${origin} skill without any isolation`;
  return undefined;
}

function unmetDemand(mode: Mode, { demands = [] }: ModeInput): Demand | undefined {
  return demands.find(({ accepts }) => !accepts.includes(mode));
}

/** The flag works only if the operator did not set a stronger minimum, and not together with --isolated. */
function isVouchedFor({ trustRemoteCode, minimumIsSet, minimum, isolated }: ModeInput): boolean {
  return trustRemoteCode === true && !isolated && (minimumIsSet !== true || minimum === 'in_process');
}

/** The preferred modes that cannot be used, each with the reason. */
function skippedModes(mode: Mode, input: ModeInput, wanted: Mode[]): string[] {
  return wanted
    .slice(0, wanted.indexOf(mode))
    .map((earlier) => `${earlier}: ${tooWeak(earlier, input) ?? refusalText(earlier, input)}`);
}

function choice(candidate: Candidate, input: ModeInput, notUsed: string[]): ModeChoice {
  const { demands = [] } = input;
  const requires = demands.map(({ requirement }) => requirement);
  return { ...reasoned(candidate, input, notUsed), ...(requires.length > 0 ? { requires } : {}) };
}

function reasoned(candidate: Candidate, input: ModeInput, notUsed: string[]): ModeChoice {
  if (input.requested !== undefined) return { candidate, reason: 'requested with --execution' };
  const rest = notUsed.length > 0 ? ` (not ${notUsed.join('; ')})` : '';
  if (input.declared.length === 0)
    return { candidate, reason: `strongest mode that runs this skill here${rest}` };
  const reason = `first of the manifest's list that works here${rest}`;
  if (notUsed.length === 0) return { candidate, reason };
  return { candidate, reason, fallback: `Runs as "${candidate.mode}"; not as ${notUsed.join('; not as ')}` };
}

/** The candidates of a mode whose refusals are the most informative. */
function informativeCandidates(mode: Mode, { candidates }: ModeInput): Candidate[] {
  const all = candidates.filter((one) => one.mode === mode);
  const fit = all.filter((one) => !one.unfit);
  return fit.length > 0 ? fit : all;
}

function refusalText(mode: Mode, input: ModeInput): string {
  const reasons = informativeCandidates(mode, input).map((one) => one.refusal?.reason ?? '');
  return [...new Set(reasons)].filter(Boolean).join('; ') || 'not part of this version';
}

function unavailable(modes: Mode[], input: ModeInput): SkillError {
  const reasons = modes.map((mode) => `"${mode}" is not available: ${refusalText(mode, input)}`);
  const fixes = modes
    .flatMap((mode) => informativeCandidates(mode, input))
    .map(({ refusal }) => refusal?.fix ?? '');
  const other = otherMode(input);
  const excluded = excludedModes(input);
  const ruledOut = excluded.map(([mode, { requirement }]) => `"${mode}" is not enough: ${requirement}`);
  const remedies = excluded.map(([, { remedy }]) => `Or ${remedy}.`);
  return new SkillError(
    'skill_unavailable',
    reasons.length > 0
      ? `Cannot run the skill here: ${[...reasons, ...ruledOut].join('; ')}`
      : 'No mode runs this skill here',
    {
      fix: other
        ? `Use --execution ${other}, which can run it here, or leave the option out.`
        : [...new Set([...fixes, ...remedies])].filter(Boolean).join(' ') ||
          'Run `skillcell doctor` to see what this machine has.',
      detail: { modes },
    },
  );
}

/** Modes that would run the skill here, if a requirement did not exclude them. */
function excludedModes(input: ModeInput): [Mode, Demand][] {
  return wantedModes(input).flatMap((mode): [Mode, Demand][] => {
    const unmet = unmetDemand(mode, input);
    const works = input.candidates.some((one) => one.mode === mode && one.refusal === undefined);
    return unmet && works ? [[mode, unmet]] : [];
  });
}

/** The mode that would have been chosen if the caller had not asked for one. */
function otherMode({ requested, ...input }: ModeInput): Mode | undefined {
  if (requested === undefined) return undefined;
  try {
    return chooseMode(input).candidate.mode;
  } catch {
    return undefined;
  }
}

function untrusted(modes: Mode[], input: ModeInput): SkillError {
  const reasons = modes.map((mode) => tooWeak(mode, input)).filter((reason) => reason !== undefined);
  const { minimum, origin, isolated } = input;
  return new SkillError('untrusted', `Refused to run the skill: ${reasons.join('; ')}`, {
    fix: alternatives(modes, input),
    detail: { modes, minimum, origin, isolated },
  });
}

/** Proposes the sandboxed alternative first. */
function alternatives(modes: Mode[], input: ModeInput): string {
  const { minimum, minimumIsSet, origin, isolated } = input;
  const sandboxed = sandboxedAlternative(input);
  const unmet = modes.map((mode) => unmetDemand(mode, input)).find((demand) => demand !== undefined);
  if (unmet) return `${sandboxed}, or ${unmet.remedy}.`;
  if (isolated) return `${sandboxed}, or leave out --isolated.`;
  const isForbidden = minimumIsSet === true && MODES[minimum].strength > 0;
  if (isForbidden || !modes.includes('in_process'))
    return `${sandboxed}, or have the operator lower minimum.${origin} in the policy.`;
  return `${sandboxed}. Only if you trust every line of it, pass --trust-remote-code, which gives it everything that you can access.`;
}

function sandboxedAlternative(input: ModeInput): string {
  const { declared, minimum, demands = [] } = input;
  if (declared.length === 0) return 'Leave out --execution, so that it runs in the strongest mode';
  const isEnough = (mode: Mode): boolean =>
    MODES[mode].strength >= Math.max(1, MODES[minimum].strength) && !unmetDemand(mode, input);
  const listed = declared.find(isEnough);
  if (listed) return `Run it sandboxed with --execution ${listed}`;
  const usual: Mode[] = ['wasm', 'subprocess'];
  const named = demands.length > 0 ? PREFERRED_MODES.filter(isEnough) : usual;
  const list = named.map((mode) => `"${mode}"`).join(' or ');
  return list === ''
    ? 'Have the operator make the requirements agree, because no mode meets all of them'
    : `Have its author list ${list} under execution, so that it runs sandboxed`;
}
