/**
 * The strictest wins: no additional file and no additional name of a skill allows more than before.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../src/trust/admission.ts';
import type { Bundle } from '../../src/load/bundle.ts';
import { allowsPath } from '../../src/policy/allows-path.ts';
import { MODES as MODE_TABLE } from '../../src/vocabulary/modes.ts';
import type { Origin } from '../../src/vocabulary/origins.ts';
import { extend, restrict, rulesOf } from '../../src/policy/combine.ts';
import { DEFAULT_POLICY, parsePolicy, type OperatorPolicy } from '../../src/policy/operator.ts';
import { demandsOn } from '../../src/policy/minimum.ts';
import { hostCovers, pathCovers, pathCoversPattern } from '../../src/policy/patterns.ts';
import { heldBack, strictest } from '../../src/policy/strictest.ts';
import { policyOfTenant, type TenantContext } from '../../src/policy/tenant-context.ts';
import { wideningKeys } from '../../src/policy/widening.ts';
import { STRICTNESS } from '../../src/vocabulary/decisions.ts';
import { exampleManifest } from './example-manifest.ts';

const MODES = ['in_process', 'subprocess', 'container', 'wasm'] as const;
const ORIGINS = ['bundled', 'project', 'installed', 'external'] as const;
const LIMITS = ['timeout', 'cpu', 'memory', 'output', 'scratch', 'processes'] as const;
/** Values below and above the default. */
const SECONDS = [1, 100, 1000];
const BYTES = [1000, 100_000, 4_000_000_000];
const AMOUNTS = {
  timeout: SECONDS,
  cpu: SECONDS,
  memory: BYTES,
  output: BYTES,
  scratch: BYTES,
  processes: [0, 100, 1000],
};
const SAMPLES = [0, 100, 1000, 100_000, 1_000_000, 4_000_000_000];
const PATHS = [
  '${workspace}/a',
  '${workspace}/a/b',
  '${workspace}',
  '/data',
  '/data/x/y',
  '/home/u',
  '/data/x',
];
const PATTERNS = ['${workspace}/**', '${workspace}/a', '/**', '/data/**', '/data/*', '/*/x', '/data/**/y'];
const HOSTS = ['example.org', 'api.example.org', 'a.b.example.org', 'other.net'];
const HOST_PATTERNS = ['*.example.org', 'example.org', 'api.example.org', '*.b.example.org', 'other.net'];
const NAMES = ['A', 'B', 'C'];
const ADDRESSES = ['10.0.0.1', '10.0.0.2'];
const SKILLS = ['fin/wallet', 'fun/wallet', 'fin/other', 'text/shout'];
const MATCHES = ['*', 'fin/*', '*/wallet', 'fun/wallet', 'text/shout'];
const DEMANDED = ['subprocess', 'container', 'wasm', ['container'], ['subprocess', 'wasm']] as const;
const SOURCES = ['environment', { file: '/s' }, { command: ['get'] }];

const some = <T>(values: readonly T[]) => fc.subarray([...values]);
const rule = fc.record({
  match: fc.constantFrom(...MATCHES),
  decision: fc.constantFrom('allow', 'ask', 'deny'),
  require_signature: fc.boolean(),
});
const optional = { requiredKeys: [] };
const policyText = fc.record(
  {
    minimum: fc.record(
      {
        ...Object.fromEntries(
          ORIGINS.map((origin) => [origin, fc.constantFrom(...MODES, ['container'], ['container', 'wasm'])]),
        ),
        ...Object.fromEntries(MATCHES.map((match) => [match, fc.constantFrom(...DEMANDED)])),
      },
      optional,
    ),
    ceilings: fc.record(
      Object.fromEntries(LIMITS.map((limit) => [limit, fc.constantFrom(...AMOUNTS[limit])])),
      optional,
    ),
    filesystem: fc.record({ allow: some(PATTERNS) }),
    env: fc.record({ allow: some(NAMES) }),
    network: fc.record(
      { allow: some(HOST_PATTERNS), allow_private: some(ADDRESSES), trace_context: fc.boolean() },
      optional,
    ),
    python_wasm: fc.record({ new_instance: fc.boolean(), strict: fc.boolean() }, optional),
    generated_code: fc.boolean(),
    secrets: some(SOURCES).filter((list) => list.length > 0),
    skills: fc.array(rule, { maxLength: 3 }),
  },
  optional,
);
const policy = policyText.map((value) => parsePolicy(JSON.stringify(value), { file: '/p' }));
/** A single key, so that many of them add nothing. */
const shortPolicy = fc
  .tuple(policyText, fc.nat())
  .map(([value, at]) => Object.entries(value)[at % Math.max(1, Object.keys(value).length)])
  .map((key) => parsePolicy(JSON.stringify(key ? Object.fromEntries([key]) : {}), { file: '/p' }));
/** A policy in force: the defaults combined with one or two files above, trusted or not. */
const inForce = fc
  .array(fc.tuple(policy, fc.boolean()), { maxLength: 2 })
  .map((files) =>
    files.reduce((all, [file, trusted]) => (trusted ? extend : restrict)(all, file), DEFAULT_POLICY),
  );

function bundle(name: string, aliases: string[] = []): Bundle {
  return { manifest: exampleManifest({ name }), aliases } as unknown as Bundle;
}

/** The modes that the rules of `minimum` leave to a skill. */
function modesFor(
  { minimumRules }: OperatorPolicy,
  { name, aliases = [], origin }: { name: string; aliases?: string[]; origin: Origin },
): string[] {
  const demands = demandsOn({ ...bundle(name, aliases), origin }, minimumRules);
  return MODES.flatMap((mode) => [
    ...(demands.every(({ accepts }) => accepts.includes(mode)) ? [`${origin} ${name} in ${mode}`] : []),
    ...(demands.some(({ needsJail }) => needsJail) ? [] : [`${origin} ${name} without a jail`]),
  ]);
}

/** Everything that a policy allows among the samples, as comparable strings. */
function allowed(given: OperatorPolicy): Set<string> {
  const { network, env, secrets = ['environment'] } = given;
  const answers = SKILLS.map((name) => [name, answerOf(rulesOf(given), bundle(name))] as const);
  return new Set([
    ...PATHS.filter((path) => allowsPath(given, path)).map((path) => `path ${path}`),
    ...HOSTS.filter((host) => network.allow?.some((one) => hostCovers(one, host)) ?? true).map(
      (host) => `host ${host}`,
    ),
    ...(network.allowPrivate ?? []).map((address) => `private ${address}`),
    ...(network.traceContext ? ['trace'] : []),
    ...NAMES.filter((name) => env.allow?.includes(name) ?? true).map((name) => `env ${name}`),
    ...(env.vouched ?? []).map((name) => `vouched ${name}`),
    ...secrets.map((source) => `secrets ${JSON.stringify(source)}`),
    ...ORIGINS.flatMap((origin) =>
      MODES.filter((mode) => MODE_TABLE[mode].strength >= MODE_TABLE[given.minimum[origin]].strength).map(
        (m) => `${origin} ${m}`,
      ),
    ),
    ...SKILLS.flatMap((name) => ORIGINS.flatMap((origin) => modesFor(given, { name, origin }))),
    ...LIMITS.flatMap((limit) =>
      SAMPLES.filter((amount) => amount <= given.ceilings[limit]).map((amount) => `${limit} ${amount}`),
    ),
    ...answers.filter(([, { decision }]) => decision !== 'deny').map(([name]) => `${name} after a question`),
    ...answers.filter(([, { decision }]) => decision === 'allow').map(([name]) => `${name} unasked`),
    ...answers.filter(([, { requireSignature }]) => !requireSignature).map(([name]) => `${name} unsigned`),
    ...(given.generatedCode === false ? [] : ['generated code']),
    ...(given.pythonWasm?.strict ? [] : ['module body kept']),
    ...(given.pythonWasm?.newInstance ? [] : ['engine kept']),
  ]);
}

function both(one: Set<string>, other: Set<string>): Set<string> {
  return new Set([...one].filter((act) => other.has(act)));
}

const RUNS = { numRuns: 200 };

describe('the policy for the calls of a tenant', () => {
  /** Sources of secrets belong to the tenant, and the operator gave them. */
  const isSecret = (act: string): boolean => act.startsWith('secrets ');
  const tenant = (own: OperatorPolicy | undefined): TenantContext => ({
    ...{ name: 'acme', secrets: [], env: {}, foreign: [] },
    ...(own ? { policy: own } : {}),
  });

  it('never allows anything that the policy of the operator does not, whatever its own says', () => {
    fc.assert(
      fc.property(inForce, fc.option(policy, { nil: undefined }), (operator, own) => {
        const merged = policyOfTenant(operator, tenant(own));
        const added = [...allowed(merged)].filter((act) => !isSecret(act) && !allowed(operator).has(act));
        expect(added).toEqual([]);
        expect(merged.network.inspectTls ?? false).toBe(operator.network.inspectTls ?? false);
        expect(merged.secrets).toEqual([]);
      }),
      RUNS,
    );
  });

  it('also keeps to what its own policy allows', () => {
    fc.assert(
      fc.property(inForce, policy, (operator, own) => {
        const merged = allowed(policyOfTenant(operator, tenant(own)));
        expect(
          [...merged].filter((act) => !isSecret(act) && !allowed(restrict(operator, own)).has(act)),
        ).toEqual([]);
      }),
      RUNS,
    );
  });

  it('opens no file outside the workspace unless its own policy names files', () => {
    fc.assert(
      fc.property(inForce, (operator) => {
        const merged = policyOfTenant(operator, tenant(undefined));
        const outside = PATHS.filter((path) => !path.startsWith('${workspace}'));
        expect(outside.filter((path) => allowsPath(merged, path))).toEqual([]);
      }),
      RUNS,
    );
  });
});

describe('a policy that applies below another policy', () => {
  it('never allows anything that was not allowed without it', () => {
    fc.assert(
      fc.property(inForce, policy, (before, file) => {
        const added = [...allowed(restrict(before, file))].filter((act) => !allowed(before).has(act));
        expect(added).toEqual([]);
      }),
      RUNS,
    );
  });

  it('changes nothing if it is empty or repeats the other', () => {
    fc.assert(
      fc.property(inForce, policy, (before, file) => {
        expect(allowed(restrict(before, parsePolicy('{}', { file: '/p' })))).toEqual(allowed(before));
        const once = restrict(before, file);
        expect(allowed(restrict(once, file))).toEqual(allowed(once));
      }),
      RUNS,
    );
  });

  it('has the same effect whichever of the two is above the other', () => {
    fc.assert(
      fc.property(inForce, policy, policy, (before, one, other) => {
        expect(allowed(restrict(restrict(before, one), other))).toEqual(
          allowed(restrict(restrict(before, other), one)),
        );
      }),
      RUNS,
    );
  });

  it('needs no trust only if trusting it would add nothing', () => {
    fc.assert(
      fc.property(inForce, shortPolicy, (before, file) => {
        if (wideningKeys(file, before).length > 0) return;
        const added = [...allowed(extend(before, file))].filter((act) => !allowed(before).has(act));
        // Freshness is ignored: only a file can lower it, and it is not something that a skill does.
        expect(added.filter((act) => !act.endsWith('kept'))).toEqual([]);
      }),
      RUNS,
    );
  });

  it('loosens no rule by name, even if a person trusts it', () => {
    fc.assert(
      fc.property(inForce, policy, fc.constantFrom(...SKILLS), (before, file, name) => {
        const [without, alone, both] = [before, file, extend(before, file)].map((one) =>
          answerOf(rulesOf(one), bundle(name)),
        );
        for (const one of [without, alone]) {
          expect(STRICTNESS[both!.decision]).toBeGreaterThanOrEqual(STRICTNESS[one!.decision]);
          expect(both!.requireSignature || !one!.requireSignature).toBe(true);
        }
      }),
      RUNS,
    );
  });
});

describe('the names of a skill', () => {
  it('can only make the decision stricter, in any order', () => {
    const names = fc.uniqueArray(fc.constantFrom(...SKILLS), { minLength: 1 });
    fc.assert(
      fc.property(inForce, names, (given, [first = '', ...others]) => {
        const rules = rulesOf(given);
        const all = answerOf(rules, bundle(first, others));
        for (const name of [first, ...others]) {
          const { decision, requireSignature } = answerOf(rules, bundle(name));
          expect(STRICTNESS[all.decision]).toBeGreaterThanOrEqual(STRICTNESS[decision]);
          expect(all.requireSignature || !requireSignature).toBe(true);
        }
        const [last = '', ...rest] = [first, ...others].toReversed();
        const turned = answerOf(rules, bundle(last, rest));
        expect(turned.decision).toBe(all.decision);
        expect(turned.requireSignature).toBe(all.requireSignature);
      }),
      RUNS,
    );
  });
});

describe('rules of minimum by name', () => {
  const rules = fc.dictionary(fc.constantFrom(...MATCHES), fc.constantFrom(...DEMANDED));
  const read = (minimum: object): OperatorPolicy => parsePolicy(JSON.stringify({ minimum }), { file: '/p' });
  const skill = { name: 'fin/wallet', aliases: ['fun/wallet', 'text/shout'], origin: 'project' as const };

  it('never leave more modes to a skill when a rule or a name is added', () => {
    fc.assert(
      fc.property(rules, rules, (some, more) => {
        const combined = restrict(read(some), read(more));
        for (const policyOfFile of [read(some), read(more)])
          expect(modesFor(policyOfFile, skill)).toEqual(expect.arrayContaining(modesFor(combined, skill)));
        expect(modesFor(read(some), { ...skill, aliases: [] })).toEqual(
          expect.arrayContaining(modesFor(read(some), skill)),
        );
      }),
      RUNS,
    );
  });

  it('have the same effect in any order', () => {
    fc.assert(
      fc.property(rules, (given) => {
        const turned = Object.fromEntries(Object.entries(given).toReversed());
        expect(modesFor(read(turned), skill)).toEqual(modesFor(read(given), skill));
      }),
      RUNS,
    );
  });
});

it('a path pattern covers another only if it covers all its paths', () => {
  const segment = fc.constantFrom('a', 'b', '*', '**', 'a*');
  const pattern = fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
  const path = fc
    .array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 4 })
    .map((parts) => `/${parts.join('/')}`);
  fc.assert(
    fc.property(pattern, pattern, path, (wide, narrow, at) => {
      fc.pre(pathCoversPattern(wide, narrow) && pathCovers(narrow, at));
      expect(pathCovers(wide, at)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

describe('the policy of a running service whose file was edited', () => {
  it('allows exactly what both the policy in force and the file allow', () => {
    fc.assert(
      fc.property(inForce, inForce, (before, file) => {
        expect(allowed(strictest(before, file))).toEqual(both(allowed(before), allowed(file)));
      }),
      RUNS,
    );
  });

  it('holds back nothing exactly if the file is in force', () => {
    fc.assert(
      fc.property(inForce, inForce, (before, file) => {
        const now = strictest(before, file);
        expect(heldBack(strictest(file, file), file)).toEqual([]);
        if (heldBack(now, file).length === 0) expect(allowed(now)).toEqual(allowed(file));
      }),
      RUNS,
    );
  });
});
