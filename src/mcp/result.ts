/**
 * The outcome of a call as text for a model. A failure says who can fix it: the model itself, or only the person who
 * operates Skillcell.
 *
 * @module
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import {
  type ErrorBody,
  type ErrorCode,
  type Failure,
  type Outcome,
  type Success,
  printable,
  printableBlock,
  printableJson,
  printableLine,
  resultText,
} from '../inside.ts';
import { MAX_RESULT_BYTES } from './limits.ts';

/** Errors can contain output of a skill; a model needs only its beginning. */
const MAX_TEXT = 8000;
const MAX_DENIALS = 20;

type Remedy = 'model' | 'person' | 'later' | 'none';

/** Who can fix each error. */
const REMEDIES: Record<ErrorCode, Remedy> = {
  skill_error: 'model',
  usage: 'model',
  invalid_params: 'model',
  manifest_invalid: 'person',
  manifest_drift: 'person',
  unenforceable: 'person',
  capability_denied: 'person',
  resource_exceeded: 'person',
  untrusted: 'person',
  approval_required: 'person',
  signature_invalid: 'person',
  skill_unavailable: 'person',
  outcome_unknown: 'person',
  internal: 'none',
  cancelled: 'later',
};

const ONLY_A_PERSON =
  'You cannot change this: no tool or argument of this server can approve a skill or widen what it may do. ' +
  'Tell the person what was refused and what they would have to do, or continue without it. Do not retry the same call.';

export function toToolResult(outcome: Outcome): CallToolResult {
  return outcome.ok ? success(outcome) : failure(outcome);
}

/** For a request that never became a call, such as a search with invalid arguments. */
export function toolError(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

function success(outcome: Success): CallToolResult {
  const bytes = resultText(outcome)?.bytes.length ?? 0;
  if (bytes > MAX_RESULT_BYTES) return toolError(tooLarge(bytes, outcome));
  const { result } = outcome;
  const text = typeof result === 'string' ? printable(result, { keepsJoiners: true }) : printableJson(result);
  const denials = denialNote(outcome);
  return {
    content: [
      { type: 'text', text },
      ...(denials === undefined ? [] : [{ type: 'text' as const, text: denials }]),
    ],
    structuredContent: result,
    _meta: metaOf(outcome),
  };
}

function tooLarge(bytes: number, { call_id }: Success): string {
  return [
    `The skill returned ${bytes} bytes of JSON; the maximum over MCP is ${MAX_RESULT_BYTES}.`,
    'Ask for less at a time.',
    `Receipt: ${call_id}`,
  ].join('\n');
}

function failure(outcome: Failure): CallToolResult {
  const { error, call_id } = outcome;
  const lines = [
    `${error.code}: ${shorten(printableBlock(error.message))}`,
    ...remedyFor(error),
    denialNote(outcome),
    `Receipt: ${call_id}`,
  ];
  const text = lines.filter((line) => line !== undefined).join('\n');
  return {
    isError: true,
    content: [{ type: 'text', text }],
    _meta: { ...metaOf(outcome), 'skillcell/error': { code: error.code, fix: error.fix } },
  };
}

function remedyFor(error: ErrorBody): string[] {
  const isBusy = error.code === 'resource_exceeded' && error.detail['limit'] === 'busy';
  const remedy = isBusy ? 'later' : REMEDIES[error.code];
  if (error.code === 'cancelled')
    return ['The call was cancelled before it ended. Call the tool again if you still need the result.'];
  if (remedy === 'later') return ['The server is busy. Try again in a few seconds.'];
  if (remedy === 'person')
    return [
      `The person who runs this server can fix it: ${shorten(printableLine(error.fix))}`,
      ONLY_A_PERSON,
    ];
  if (remedy === 'none') return ['This is a defect in Skillcell. Tell the person; a retry may help.'];
  return error.code === 'invalid_params'
    ? ['Correct the arguments to match the input schema of this tool, and call it again.']
    : ['The skill itself failed. Other arguments may help.'];
}

/** Denials that the skill handled, or that explain its failure. */
function denialNote({ capabilities: { denied, cut } }: Outcome): string | undefined {
  if (denied.length === 0) return undefined;
  const shown = denied
    .slice(0, MAX_DENIALS)
    .map(({ asked, declared }) => `- ${printableLine(asked)} (${printableLine(declared)})`);
  const left = denied.length - shown.length + (cut?.denied ?? 0);
  const more = left > 0 ? [`- and ${left} more`] : [];
  const lines = ['Skillcell denied this skill:', ...shown, ...more];
  return shorten(lines.join('\n'));
}

function metaOf({ call_id, skill, execution }: Outcome): Record<string, unknown> {
  return {
    'skillcell/call_id': call_id,
    'skillcell/digest': skill.digest,
    ...(execution ? { 'skillcell/execution': { ...execution } } : {}),
  };
}

function shorten(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
