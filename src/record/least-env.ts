/**
 * The least variables that cover what was observed, and which of them are secrets.
 *
 * @module
 */
import { isHarmlessEnv } from '../load/drift.ts';
import type { EnvRule } from '../manifest/manifest.ts';
import { hostCovers } from '../policy/patterns.ts';
import type { Observed } from './observed.ts';
import type { Noted } from './least.ts';

/** What keys are called. */
const SECRET_NAME = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PAT|DSN)(?:_|$)/i;

export interface LeastEnv {
  rules: Record<string, Noted<EnvRule>>;
  remarks: string[];
}

export interface EnvBounds {
  /** The call came to a good end, so that it did not need what it was denied. */
  succeeded: boolean;
  allowed: { env: Readonly<Record<string, EnvRule>> };
}

export function leastEnv(
  observed: Observed,
  declared: Record<string, EnvRule>,
  { succeeded, allowed }: EnvBounds,
): LeastEnv {
  const rules: [string, Noted<EnvRule>][] = [];
  const remarks: string[] = [];
  for (const name of namesIn(observed)) {
    const denied = !isUsed(name, observed);
    const known = Object.hasOwn(declared, name) ? declared[name] : undefined;
    const rule =
      known && !isTooPlain(name, known, allowed.env)
        ? narrowed(name, known, observed)
        : newRule(name, observed, { required: !denied || !succeeded });
    if (isTooPlain(name, rule, allowed.env)) {
      remarks.push(
        `${name} was allowed as a secret and sent nowhere, so there are no hosts to declare for it.`,
      );
      continue;
    }
    rules.push([name, { rule, denied }]);
    if (SECRET_NAME.test(name) && !known?.secret && !isSent(name, observed))
      remarks.push(remarkOn(name, rule, observed));
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

/** True for a rule that shows the value to the skill, where only sending it was allowed. */
function isTooPlain(name: string, { secret }: EnvRule, allowed: Readonly<Record<string, EnvRule>>): boolean {
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
  const hosts = sentTo.length > 0 ? sentTo : SECRET_NAME.test(name) ? reached : [];
  return { required, secret: hosts.length > 0, hosts };
}

/** Of a secret the hosts alone that it went to, unless it went nowhere in this run. */
function narrowed(name: string, rule: EnvRule, observed: Observed): EnvRule {
  const sentTo = hostsOf(name, observed);
  if (!rule.secret || sentTo.length === 0) return rule;
  const kept = rule.hosts.filter((pattern) => sentTo.some((host) => hostCovers(pattern, host)));
  const added = sentTo.filter((host) => !kept.some((pattern) => hostCovers(pattern, host)));
  return { ...rule, hosts: [...kept, ...added] };
}

function hostsOf(name: string, { secrets }: Observed): string[] {
  return [...new Set(secrets.filter((one) => one.name === name).map(({ host }) => host))].sort();
}

function remarkOn(name: string, { secret }: EnvRule, { requests }: Observed): string {
  const guess = secret
    ? 'its "hosts" are a guess, all that the skill reached'
    : 'it is declared as a plain variable, which the skill gets to see';
  // A tunnel that was let through: what went through it, a secret too, nobody saw.
  const isBlind = requests.some(({ method, denied }) => method === undefined && !denied);
  const advice = isBlind
    ? 'Set network.inspect_tls in the policy, or record with --execution wasm, to see where it is sent.'
    : `Record with --allow-secret ${name} to see where it is sent.`;
  return `${name} looks like a secret: ${guess}. ${advice}`;
}
