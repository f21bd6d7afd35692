/**
 * Which mode a call runs in: what the caller asked for, what the manifest prefers, what the operator
 * demands for this origin, and what this machine has. Pure; the reason is part of the answer.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Origin } from '../load/bundle.ts';
import type { EngineName, Mode, WallName } from '../outcome.ts';

/** One way to run the bundle, as this machine has it. */
export interface Candidate {
  mode: Mode;
  wall: WallName;
  engine: EngineName;
  /** Why it cannot be used here, when it cannot. */
  refusal?: { reason: string; fix: string };
  /** Not meant for such bundles at all: what stands in the way of others of its mode says more. */
  unfit?: boolean;
}

export interface ModeInput {
  /** From the manifest, in order of preference; empty: the strongest that works. */
  declared: Mode[];
  /** `--execution`. */
  requested?: Mode;
  /** `--isolated`. */
  isolated: boolean;
  origin: Origin;
  /** What the operator demands for this origin. */
  minimum: Mode;
  /** Whether the operator wrote it down: then no flag of a caller goes below it. */
  minimumIsSet?: boolean;
  /** `--trust-remote-code`: the caller vouches for the code. */
  trustRemoteCode?: boolean;
  /** In order of strength, strongest first. */
  candidates: Candidate[];
}

export interface ModeChoice {
  candidate: Candidate;
  /** Why this one, for `inspect` and `--explain`. */
  reason: string;
  /** Set when the manifest would rather have had another mode. */
  fallback?: string;
}

/** How much stands between a skill and the host. */
export const STRENGTH: Readonly<Record<Mode, number>> = {
  in_process: 0,
  subprocess: 1,
  container: 1,
  wasm: 2,
};

/** Chooses the candidate, or says exactly what stands in the way. */
export function chooseMode(given: ModeInput): ModeChoice {
  const input = { ...given, candidates: given.candidates.map((one) => withDemandedWall(one, given)) };
  assertDeclared(input);
  const wanted = wantedModes(input);
  const strongEnough = wanted.filter((mode) => tooWeak(mode, input) === undefined);
  for (const mode of strongEnough) {
    const candidate = input.candidates.find((one) => one.mode === mode && one.refusal === undefined);
    if (candidate) return choice(candidate, input, passedOver(mode, input, wanted));
  }
  throw strongEnough.length > 0 || wanted.length === 0
    ? unavailable(strongEnough, input)
    : untrusted(wanted, input);
}

/** `wasm` as a minimum means two walls. Without a jail it is one, which is as strong as `subprocess` and no stronger. */
function withDemandedWall(candidate: Candidate, { minimum, origin }: ModeInput): Candidate {
  const isOneWall = candidate.mode === 'wasm' && candidate.wall !== 'jail';
  if (minimum !== 'wasm' || !isOneWall || candidate.refusal !== undefined) return candidate;
  const reason = `the operator demands "wasm" for ${origin} skills, which is two walls, and no jail can be opened here`;
  const fix = `Install bubblewrap and see \`skillcell doctor\`, or have the operator lower minimum.${origin} in the policy.`;
  return { ...candidate, refusal: { reason, fix } };
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
  // Nobody gets by without isolation who did not ask for it.
  const isolating = candidates.filter(({ mode }) => mode !== 'in_process');
  return [...new Set(isolating.map((candidate) => candidate.mode))];
}

/** Why the mode is too weak for this call; undefined when it is strong enough. */
function tooWeak(mode: Mode, input: ModeInput): string | undefined {
  const { isolated, minimum, origin } = input;
  if (mode === 'in_process' && isVouchedFor(input)) return undefined;
  if (STRENGTH[mode] < STRENGTH[minimum]) {
    return `"${mode}" is weaker than "${minimum}", the minimum for ${origin} skills`;
  }
  if (isolated && STRENGTH[mode] < STRENGTH.subprocess) {
    return `"${mode}" is weaker than "subprocess", which --isolated demands`;
  }
  if (mode === 'in_process' && origin !== 'bundled')
    return `"in_process" would run code of an ${origin} skill without any isolation`;
  return undefined;
}

/** The flag opens what nobody forbade: not what the operator closed by hand, and not together with --isolated. */
function isVouchedFor({ trustRemoteCode, minimumIsSet, minimum, isolated }: ModeInput): boolean {
  return trustRemoteCode === true && !isolated && (minimumIsSet !== true || minimum === 'in_process');
}

/** Modes that come first in the list, and why each of them cannot be used. */
function passedOver(mode: Mode, input: ModeInput, wanted: Mode[]): string[] {
  return wanted
    .slice(0, wanted.indexOf(mode))
    .map((earlier) => `${earlier}: ${tooWeak(earlier, input) ?? refusalText(earlier, input)}`);
}

function choice(candidate: Candidate, input: ModeInput, notUsed: string[]): ModeChoice {
  if (input.requested !== undefined) return { candidate, reason: 'asked for with --execution' };
  const rest = notUsed.length > 0 ? ` (not ${notUsed.join('; ')})` : '';
  if (input.declared.length === 0)
    return { candidate, reason: `strongest mode that runs this skill here${rest}` };
  const reason = `first of the manifest's list that works here${rest}`;
  if (notUsed.length === 0) return { candidate, reason };
  return { candidate, reason, fallback: `Runs as "${candidate.mode}"; not as ${notUsed.join('; not as ')}` };
}

/** Those of a mode that say the most about why it cannot be used. */
function tellingOf(mode: Mode, { candidates }: ModeInput): Candidate[] {
  const all = candidates.filter((one) => one.mode === mode);
  const fit = all.filter((one) => !one.unfit);
  return fit.length > 0 ? fit : all;
}

function refusalText(mode: Mode, input: ModeInput): string {
  const reasons = tellingOf(mode, input).map((one) => one.refusal?.reason ?? '');
  return [...new Set(reasons)].filter(Boolean).join('; ') || 'not part of this version';
}

function unavailable(modes: Mode[], input: ModeInput): SkillError {
  const reasons = modes.map((mode) => `"${mode}" is not available: ${refusalText(mode, input)}`);
  const fixes = modes.flatMap((mode) => tellingOf(mode, input)).map(({ refusal }) => refusal?.fix ?? '');
  const other = otherMode(input);
  return new SkillError(
    'skill_unavailable',
    reasons.length > 0 ? `Cannot run the skill here: ${reasons.join('; ')}` : 'No mode runs this skill here',
    {
      fix: other
        ? `Use --execution ${other}, which can run it here, or leave the option out.`
        : [...new Set(fixes)].filter(Boolean).join(' ') ||
          'Run `skillcell doctor` to see what this machine has.',
      detail: { modes },
    },
  );
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

/** The sandboxed way first. */
function alternatives(modes: Mode[], input: ModeInput): string {
  const { minimum, minimumIsSet, origin, isolated } = input;
  const sandboxed = sandboxedWay(input);
  if (isolated) return `${sandboxed}, or leave out --isolated.`;
  const isForbidden = minimumIsSet === true && STRENGTH[minimum] > 0;
  if (isForbidden || !modes.includes('in_process'))
    return `${sandboxed}, or have the operator lower minimum.${origin} in the policy.`;
  return `${sandboxed}. Only if you trust every line of it, give it all that you have with --trust-remote-code.`;
}

function sandboxedWay({ declared, minimum }: ModeInput): string {
  if (declared.length === 0) return 'Leave out --execution, so that it runs in the strongest mode';
  const listed = declared.find((mode) => STRENGTH[mode] >= Math.max(1, STRENGTH[minimum]));
  return listed
    ? `Run it sandboxed with --execution ${listed}`
    : 'Have its author list "wasm" or "subprocess" under execution, so that it runs sandboxed';
}
