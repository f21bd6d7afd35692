/**
 * The fix for a denied request: host, port, scheme, method, path, the hosts of the policy and private addresses, whatever
 * of it is missing.
 *
 * @module
 */
import { isIP } from 'node:net';
import type { NetworkRule } from '../../manifest/manifest.ts';
import { hostProblem, urlPathProblem } from '../../manifest/places.ts';
import { coversRequest, readAskedRequest, usualPort, type AskedRequest } from '../../policy/asked-request.ts';
import { addTo } from '../../manifest/edit-sentences.ts';
import { allowInPolicy, policyChange } from '../../policy/edits.ts';
import { hostCovers } from '../../policy/patterns.ts';
import type { DeniedAct } from './denial-fix.ts';
import { manifestChange, manifestFile, recordAdvice, type Situation } from './situation.ts';

/** Denials that no rule can change, by their reason. */
const FINAL: readonly (readonly [reason: RegExp, fix: string])[] = [
  [
    /another request than the rule covers/,
    'Remove it from the request, or declare a rule without "methods" and "paths".',
  ],
  [/through the proxy alone/, 'Use fetch, or the agents of node:http and node:https, for requests.'],
  [/no cell has unix sockets/, 'Remove the connection from the skill: no cell has unix sockets.'],
];
/** Why a covered request is still denied: `127.0.0.1 is no public address`. */
const REFUSED_ADDRESS = /^(\S+) is (?:no public address|an address of this machine)$/;

/** A raw connection does not say what it is for; only port 443 is certain to be TLS. */
const GUESSED_SCHEME = /^(?:connect|resolve) (?!\S+:443$)/;

export function networkFix({ denial, situation, grant }: DeniedAct): string {
  const final = FINAL.find(([reason]) => reason.test(denial.declared));
  if (final) return final[1];
  const request = readAskedRequest(denial.asked);
  if (!request || hostProblem(request.host) !== undefined)
    return 'Remove this from the skill: cells can only make requests to hosts that the manifest declares.';
  const [, address] = REFUSED_ADDRESS.exec(denial.declared) ?? [];
  const target = literalOf(request, address);
  const { isPublicAddress } = situation;
  const refused = target === request ? address : undefined;
  const edits = policyEdits(
    target,
    situation,
    refused ?? (isPublicAddress(target.host) ? undefined : target.host),
  );
  const policy = edits.length > 0 ? policyChange(situation.policy, edits) : '';
  const isGuess = GUESSED_SCHEME.test(denial.asked);
  const manifest = isGuess
    ? recordAdvice(situation, '--allow-network')
    : manifestPart(target, situation, grant.inspectTls);
  const rename =
    target.host === request.host
      ? ''
      : `A name that leads to a private address cannot be granted: use ${target.host} instead of ${request.host} in the skill or its parameters.`;
  return ['If the skill needs this:', rename, policy, manifest].filter(Boolean).join(' ');
}

/** Only the literal address of a private server can be granted, never a name for it. */
function literalOf(request: AskedRequest, address: string | undefined): AskedRequest {
  if (address !== undefined && isIP(request.host) === 0) return { ...request, host: address };
  const isLocal = request.host === 'localhost' || request.host.endsWith('.localhost');
  return isLocal ? { ...request, host: '127.0.0.1' } : request;
}

function manifestPart(request: AskedRequest, situation: Situation, inspectTls = false): string {
  const { network } = situation.manifest.capabilities;
  const { method, path, scheme } = request;
  // A tunnel of TLS is opaque; for anything else, only a recorded call shows what is requested.
  const isOpaque = (scheme === 'https' || scheme === 'wss') && situation.mode !== 'wasm' && !inspectTls;
  if (!isOpaque && (method === undefined || urlPathProblem(path ?? '') !== undefined || path?.includes('*')))
    return recordAdvice(situation, '--allow-network');
  const wanted = isOpaque ? withoutDetails(request) : request;
  if (network.some((rule) => coversRequest(rule, wanted))) return '';
  return manifestChange(situation, [
    addTo('capabilities.network', manifestFile(situation), formatRule(wanted)),
  ]);
}

function withoutDetails({ host, port, scheme }: AskedRequest): AskedRequest {
  return { host, port, scheme };
}

/** The rule that covers this request and nothing else. */
function formatRule({ host, port, scheme, method, path }: AskedRequest): string {
  const rule: NetworkRule = {
    host,
    ...(port === usualPort(scheme) ? {} : { port }),
    ...(scheme === 'https' ? {} : { scheme }),
    ...(method === undefined ? {} : { methods: [method] }),
    ...(path === undefined ? {} : { paths: [path] }),
  };
  const fields = Object.entries(rule).map(([key, value]) => `${key}: ${formatValue(value)}`);
  return `{ ${fields.join(', ')} }`;
}

function formatValue(value: NetworkRule[keyof NetworkRule]): string {
  return Array.isArray(value)
    ? `[${value.map((one) => JSON.stringify(one)).join(', ')}]`
    : JSON.stringify(value);
}

function policyEdits(
  { host }: AskedRequest,
  { policy }: Situation,
  privateAddress: string | undefined,
): string[] {
  const { allow, allowPrivate = [] } = policy.network;
  const edits: string[] = [];
  if (allow && !allow.some((pattern) => hostCovers(pattern, host)))
    edits.push(allowInPolicy(policy, 'network.allow', { before: allow, added: host }));
  if (privateAddress !== undefined && !allowPrivate.includes(privateAddress))
    edits.push(
      allowInPolicy(policy, 'network.allow_private', { before: allowPrivate, added: privateAddress }),
    );
  return edits;
}
