/**
 * What a skill's mode must provide at least: rules of the operator by name or origin, and the manifest's own demand. All
 * that apply to a skill must be met, so a further rule never weakens anything and their order has no effect.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Bundle } from '../load/bundle.ts';
import { nameMatches } from '../manifest/star-pattern.ts';
import { namesOf } from '../trust/skill-rules.ts';
import { MODES, ISOLATED_MODES, MODE_NAMES, type IsolatedMode, type Mode } from '../vocabulary/modes.ts';
import { ORIGIN_NAMES, type Origin } from '../vocabulary/origins.ts';
import { isNamePattern } from './trust-keys.ts';

export interface MinimumRule {
  /** An origin, or a pattern for names such as `compliance/*`. */
  key: string;
  /** This mode or a stronger one, or exactly one of these. */
  mode: IsolatedMode | readonly IsolatedMode[];
}

/** A requirement that applies to one skill. */
export interface Demand {
  accepts: readonly Mode[];
  /** `wasm` meets it only with a jail around it. */
  needsJail: boolean;
  /** A clause that names who requires what. */
  requirement: string;
  /** Who could change it, as a clause for a fix. */
  remedy: string;
}

export interface ParsedMinimum {
  /** The plain modes by origin. */
  origins: Partial<Record<Origin, Mode>>;
  rules: MinimumRule[];
}

const exactly = z
  .array(z.enum(ISOLATED_MODES))
  .min(1)
  .transform((modes): IsolatedMode[] => [...new Set(modes)].sort());
const LIST = `or a list of ${ISOLATED_MODES.join(', ')}: the only modes allowed`;
const forOrigin = z.union([z.enum(MODE_NAMES), exactly], {
  error: `must be one of ${MODE_NAMES.join(', ')}, ${LIST}`,
});
const forNames = z.union([z.enum(ISOLATED_MODES), exactly], {
  error: `must be one of ${ISOLATED_MODES.join(', ')}, because a rule for a name can only raise the minimum, ${LIST}`,
});

/** `minimum` of a policy file: origins and name patterns as keys. */
export const minimumKeys: z.ZodType<ParsedMinimum> = z
  .record(z.string(), z.unknown())
  .transform((given, context) => {
    const parsed: ParsedMinimum = { origins: {}, rules: [] };
    for (const [key, value] of Object.entries(given)) readKey(parsed, { key, value, context });
    return parsed;
  });

interface GivenKey {
  key: string;
  value: unknown;
  context: z.RefinementCtx;
}

function readKey({ origins, rules }: ParsedMinimum, { key, value, context }: GivenKey): void {
  const origin = ORIGIN_NAMES.find((one) => one === key);
  if (origin === undefined && !(/[/*]/.test(key) && isNamePattern(key))) {
    context.addIssue({ code: 'unrecognized_keys', keys: [key], input: { [key]: value } });
    return;
  }
  const mode = (origin === undefined ? forNames : forOrigin).safeParse(value);
  if (!mode.success) {
    const message = mode.error.issues[0]?.message ?? '';
    context.addIssue({ code: 'custom', path: [key], message, input: value });
  } else if (origin !== undefined && typeof mode.data === 'string') origins[origin] = mode.data;
  else rules.push({ key, mode: mode.data });
}

/** The rules of both, each once. */
export function allMinimumRules(
  one: readonly MinimumRule[] = [],
  other: readonly MinimumRule[] = [],
): MinimumRule[] {
  return [...one, ...other.filter((rule) => !one.some((known) => isDeepStrictEqual(known, rule)))];
}

/** Everything that the mode of this skill must meet in addition to the plain minimum of its origin. */
export function demandsOn(
  bundle: Pick<Bundle, 'manifest' | 'aliases' | 'origin'>,
  rules: readonly MinimumRule[] = [],
): Demand[] {
  const names = namesOf(bundle);
  const applies = ({ key }: MinimumRule): boolean =>
    key === bundle.origin || names.some((name) => nameMatches(key, name));
  const own = bundle.manifest.executionDemand === undefined ? [] : [OWN_DEMAND];
  return [...own, ...rules.filter(applies).map(operatorDemand)];
}

const OWN_DEMAND: Demand = {
  accepts: ISOLATED_MODES,
  needsJail: true,
  requirement: 'the manifest requires a jail or a container ("execution_mode: isolated")',
  remedy: 'have its author remove "execution_mode: isolated" from the manifest',
};

function operatorDemand({ key, mode }: MinimumRule): Demand {
  const remedy = `have the operator change minimum."${key}" in the policy`;
  if (typeof mode !== 'string') {
    const list = mode.map((one) => `"${one}"`).join(' or ');
    const requirement = `the policy allows only ${list} for "${key}"`;
    return { accepts: mode, needsJail: true, requirement, remedy };
  }
  return {
    accepts: atLeast(mode),
    needsJail: mode !== 'subprocess',
    requirement: `the policy requires at least "${mode}" for "${key}"`,
    remedy,
  };
}

/** The mode itself and all stronger ones; a jail is also met by a container, but a container not by a jail. */
function atLeast(mode: IsolatedMode): Mode[] {
  if (mode === 'subprocess') return [...ISOLATED_MODES];
  return MODE_NAMES.filter((one) => one === mode || MODES[one].strength > MODES[mode].strength);
}
