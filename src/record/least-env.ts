/**
 * The fewest variables that cover the observed ones, and which of them are secrets.
 *
 * @module
 */
import { isHarmlessEnv } from '../load/drift.ts';
import type { EnvRule } from '../manifest/manifest.ts';
import { namesSecret } from '../manifest/names.ts';
import { hostCovers } from '../policy/patterns.ts';
import type { Observed } from './observed.ts';
import type { ObservedRule } from './least.ts';

export interface LeastEnv {
  rules: Record<string, ObservedRule<EnvRule>>;
  remarks: string[];
}

export interface EnvBounds {
  /** The call succeeded, so it did not need what it was denied. */
  succeeded: boolean;
  allowed: { env: Readonly<Record<string, EnvRule>> };
}

export function leastEnv(
  observed: Observed,
  declared: Record<string, EnvRule>,
  { succeeded, allowed }: EnvBounds,
): LeastEnv {
  const rules: [string, ObservedRule<EnvRule>][] = [];
  const remarks: string[] = [];
  for (const name of namesIn(observed)) {
    const denied = !isUsed(name, observed);
    const known = Object.hasOwn(declared, name) ? declared[name] : undefined;
    const rule =
      known && !exposesSecret(name, known, allowed.env)
        ? narrow(name, known, observed)
        : newRule(name, observed, { required: !denied || !succeeded });
    if (exposesSecret(name, rule, allowed.env)) {
      remarks.push(
        `${name} was allowed as a secret but was not sent to any host, so there are no hosts to declare.`,
      );
      continue;
    }
    rules.push([name, { rule, denied }]);
    if (namesSecret(name) && !known?.secret && !isSent(name, observed))
      remarks.push(remarkOn(name, { rule, observed, wasAllowed: allowed.env[name]?.secret === true }));
  }
  return { rules: Object.fromEntries(rules), remarks };
}

export function unusedEnv({ env, secrets }: Observed, declared: Record<string, EnvRule>): string[] {
  const used = new Set([...env, ...secrets].map(({ name }) => name));
  return Object.keys(declared).filter((name) => !used.has(name));
}

function namesIn(observed: Observed): string[] {
  const names = new Set([...observed.env, ...observed.secrets].map(({ name }) => name));
  return [...names].filter((name) => !isHarmlessEnv(name)).sort();
}

/** True for a rule that reveals the value to the skill although only sending it was allowed. */
function exposesSecret(
  name: string,
  { secret }: EnvRule,
  allowed: Readonly<Record<string, EnvRule>>,
): boolean {
  return !secret && Object.hasOwn(allowed, name) && allowed[name]?.secret === true;
}

function isUsed(name: string, { env, secrets }: Observed): boolean {
  return env.some((one) => one.name === name && !one.denied) || secrets.some((one) => one.name === name);
}

function isSent(name: string, { secrets }: Observed): boolean {
  return secrets.some((one) => one.name === name);
}

function newRule(name: string, observed: Observed, { required }: { required: boolean }): EnvRule {
  const sentTo = hostsOf(name, observed);
  const reached = [...new Set(observed.requests.map(({ host }) => host))].sort();
  const hosts = sentTo.length > 0 ? sentTo : namesSecret(name) ? reached : [];
  return { required, secret: hosts.length > 0, hosts };
}

/** Limits a secret to the hosts it was sent to, unless this run did not send it. */
function narrow(name: string, rule: EnvRule, observed: Observed): EnvRule {
  const sentTo = hostsOf(name, observed);
  if (!rule.secret || sentTo.length === 0) return rule;
  const kept = rule.hosts.filter((pattern) => sentTo.some((host) => hostCovers(pattern, host)));
  const added = sentTo.filter((host) => !kept.some((pattern) => hostCovers(pattern, host)));
  return { ...rule, hosts: [...kept, ...added] };
}

function hostsOf(name: string, { secrets }: Observed): string[] {
  return [...new Set(secrets.filter((one) => one.name === name).map(({ host }) => host))].sort();
}

interface SecretLike {
  rule: EnvRule;
  observed: Observed;
  /** Recorded with --allow-secret already. */
  wasAllowed: boolean;
}

function remarkOn(name: string, { rule, observed: { requests }, wasAllowed }: SecretLike): string {
  const guess = rule.secret
    ? 'its "hosts" are a guess: all hosts that the skill reached'
    : 'it is declared as a plain variable, whose value the skill can read';
  // The content of an allowed tunnel is invisible, including any secret in it.
  const isBlind = requests.some(({ method, denied }) => method === undefined && !denied);
  const advice = isBlind
    ? 'Set network.inspect_tls in the policy, or record with --execution wasm, to see where it is sent.'
    : wasAllowed
      ? 'Record a call that sends it, to see where.'
      : `Record with --allow-secret ${name} to see where it is sent.`;
  return `${name} looks like a secret: ${guess}. ${advice}`;
}
