/**
 * Every untrusted input, with its cap and the thread that processes it. The numbers are imported from the source, so they
 * cannot drift; docs/security/event-loop.md explains them.
 *
 * @module
 */
import { MAX_HEAD_BYTES } from '../../src/broker/gateway/exchange.ts';
import { MAX_READ_BYTES } from '../../src/broker/gateway/frames.ts';
import { GATEWAY_LIMITS } from '../../src/broker/gateway/limits.ts';
import { MAX_HEADERS } from '../../src/broker/gateway/response-head.ts';
import { ENTRIES_PER_TURN } from '../../src/cell/images/layers.ts';
import { IMAGE_LIMITS } from '../../src/cell/images/limits.ts';
import { MAX_SMALL_FRAME } from '../../src/cell/protocol/frames.ts';
import { KEPT_BYTES } from '../../src/cell/protocol/log-capture.ts';
import { WHEEL_LIMITS } from '../../src/cell/engines/python-wasm/pure-wheels.ts';
import { MAX_FINDINGS } from '../../src/cell/engines/python/inspection-tasks.ts';
import { MAX_FRAMES, MAX_EVENT_BYTES } from '../../src/cell/protocol/session.ts';
import { MAX_WARM_FRAME } from '../../src/cell/protocol/warm-cell.ts';
import { CONNECTION_LIMITS } from '../../src/dispatch/connections.ts';
import { SKILL_ARCHIVE } from '../../src/distribution/archives/limits.ts';
import { MAX_BODY_BYTES } from '../../src/http/app.ts';
import { MAX_KEY_BYTES } from '../../src/http/fetch-keys.ts';
import { MAX_JWT_CHARACTERS } from '../../src/http/oidc.ts';
import { MAX_SCANNED } from '../../src/http/receipts.ts';
import { MAX_JSON_HERE } from '../../src/json-text.ts';
import { MAX_INSTRUCTIONS } from '../../src/load/bundle-texts.ts';
import { COMMAND_CAPS } from '../../src/load/commands.ts';
import { MAX_MARKETPLACE_BYTES } from '../../src/load/marketplaces.ts';
import { COMMANDS_HERE } from '../../src/load/look-for-commands.ts';
import { PACKAGE_CAPS } from '../../src/load/declared-packages.ts';
import { MAX_OVERLAY_BYTES } from '../../src/load/overlay.ts';
import { PACKAGES_HERE } from '../../src/load/propose-packages.ts';
import { MAX_LOCK_BYTES } from '../../src/load/lock.ts';
import { MAX_PARAMS_BYTES } from '../../src/load/params.ts';
import { BUNDLE_LIMITS, LIMITS_HERE } from '../../src/load/read-bundle.ts';
import { MAX_LOCK_HERE, MAX_TEXT_HERE } from '../../src/load/read-source.ts';
import { MAX_STEPS_HERE } from '../../src/manifest/schema-check.ts';
import { MAX_SCHEMA_BYTES, MAX_VALUES_HERE } from '../../src/manifest/schema-caps.ts';
import { MAX_KEYS, MAX_YAML_BYTES } from '../../src/manifest/yaml-source.ts';
import { MAX_HTTP_MESSAGE_BYTES, MAX_MESSAGE_BYTES, MAX_RESULT_BYTES } from '../../src/mcp/limits.ts';
import { MAX_QUEUED_BYTES, MAX_QUEUED_TASKS } from '../../src/offload/offload.ts';
import { DEFAULT_POLICY } from '../../src/policy/operator.ts';
import { MAX_CHARACTERS } from '../../src/tools/schema/plain.ts';

export interface StrangersInput {
  /** The largest accepted input. */
  cap: number;
  unit:
    | 'bytes'
    | 'files'
    | 'frames'
    | 'keys'
    | 'findings'
    | 'connections'
    | 'headers'
    | 'layers'
    | 'steps'
    | 'values'
    | 'tasks'
    | 'receipts';
  /** The largest input that the event loop processes; equal to `cap` if worker threads get none. */
  here: number;
  /** The worker task for larger input. */
  task?:
    | 'settleResult'
    | 'settleOutput'
    | 'checkValue'
    | 'checkParams'
    | 'splitMessage'
    | 'compileSchema'
    | 'listReceipts'
    | 'verifyLog'
    | 'readSource'
    | 'readInspection'
    | 'findCommands'
    | 'findPackages';
}

export const INPUT_NAMES = [
  'frames of a native cell, without replies',
  'all frames of a native call, without replies',
  'frames of a native call',
  'frames of a Wasm cell',
  'result of a call',
  'error of a native call',
  'output of a command',
  'stored logs',
  'schema of a skill',
  'pattern of outputs',
  'pattern of parameters',
  'steps of a check',
  'manifest.yaml',
  'keys of a mapping',
  'SKILL.md',
  'skill.lock',
  'files of a bundle',
  'names in a bundle',
  'findings in source',
  'commands in a bundle',
  'packages in a bundle',
  'overlay of a project',
  'policy of a project',
  'marketplace of plugins',
  'body of an HTTP request',
  'parameters of a call',
  'token of an issuer',
  'keys of an issuer',
  'archive of an upload',
  'connections without a complete request',
  'message of an MCP client over HTTP',
  'message of an MCP client over stdio',
  'result over MCP',
  'receipts that a query reads',
  'receipts that are verified',
  'head of a server response',
  'headers of a server response',
  'body of a server response',
  'config and manifest of an image',
  'layers of an image',
  'files of a wheel',
  'names in a wheel',
  'entries of an image',
  'schema as a tool',
  'skills of an MCP server',
  'tasks in the queue of a thread',
  'bytes in the queue of a thread',
] as const;

export type InputName = (typeof INPUT_NAMES)[number];

const { output } = DEFAULT_POLICY.ceilings;
const same = (cap: number, unit: StrangersInput['unit']): StrangersInput => ({ cap, unit, here: cap });

export const INPUTS: Readonly<Record<InputName, StrangersInput>> = {
  'frames of a native cell, without replies': same(MAX_SMALL_FRAME, 'bytes'),
  'all frames of a native call, without replies': same(MAX_EVENT_BYTES, 'bytes'),
  'frames of a native call': same(MAX_FRAMES, 'frames'),
  'frames of a Wasm cell': same(MAX_WARM_FRAME, 'bytes'),
  'result of a call': { cap: output, unit: 'bytes', here: MAX_JSON_HERE, task: 'settleResult' },
  'error of a native call': { cap: output, unit: 'bytes', here: MAX_JSON_HERE, task: 'settleResult' },
  'output of a command': { cap: output, unit: 'bytes', here: MAX_JSON_HERE, task: 'settleOutput' },
  'stored logs': same(KEPT_BYTES, 'bytes'),
  'schema of a skill': { cap: MAX_SCHEMA_BYTES, unit: 'bytes', here: MAX_VALUES_HERE, task: 'compileSchema' },
  'pattern of outputs': { cap: output, unit: 'bytes', here: 0, task: 'checkValue' },
  'pattern of parameters': { cap: MAX_PARAMS_BYTES, unit: 'bytes', here: 0, task: 'checkValue' },
  'steps of a check': { cap: Infinity, unit: 'steps', here: MAX_STEPS_HERE, task: 'checkValue' },
  'manifest.yaml': { cap: MAX_YAML_BYTES, unit: 'bytes', here: MAX_TEXT_HERE, task: 'readSource' },
  'keys of a mapping': { cap: MAX_KEYS, unit: 'keys', here: MAX_KEYS, task: 'readSource' },
  'SKILL.md': { cap: MAX_INSTRUCTIONS, unit: 'bytes', here: MAX_TEXT_HERE, task: 'readSource' },
  'skill.lock': { cap: MAX_LOCK_BYTES, unit: 'bytes', here: MAX_LOCK_HERE, task: 'readSource' },
  'files of a bundle': {
    cap: BUNDLE_LIMITS.totalBytes,
    unit: 'bytes',
    here: LIMITS_HERE.totalBytes,
    task: 'readSource',
  },
  'names in a bundle': {
    cap: BUNDLE_LIMITS.files,
    unit: 'files',
    here: LIMITS_HERE.files,
    task: 'readSource',
  },
  'findings in source': { cap: MAX_FINDINGS, unit: 'findings', here: MAX_FINDINGS, task: 'readInspection' },
  'commands in a bundle': {
    cap: COMMAND_CAPS.bytes,
    unit: 'bytes',
    here: COMMANDS_HERE.bytes,
    task: 'findCommands',
  },
  'packages in a bundle': {
    cap: PACKAGE_CAPS.bytes,
    unit: 'bytes',
    here: PACKAGES_HERE.bytes,
    task: 'findPackages',
  },
  'overlay of a project': same(MAX_OVERLAY_BYTES, 'bytes'),
  'policy of a project': same(MAX_YAML_BYTES, 'bytes'),
  'marketplace of plugins': same(MAX_MARKETPLACE_BYTES, 'bytes'),
  'body of an HTTP request': {
    cap: MAX_BODY_BYTES,
    unit: 'bytes',
    here: MAX_JSON_HERE,
    task: 'splitMessage',
  },
  'parameters of a call': { cap: MAX_PARAMS_BYTES, unit: 'bytes', here: MAX_JSON_HERE, task: 'checkParams' },
  'token of an issuer': same(MAX_JWT_CHARACTERS, 'bytes'),
  'keys of an issuer': same(MAX_KEY_BYTES, 'bytes'),
  'archive of an upload': same(SKILL_ARCHIVE.bytes, 'bytes'),
  'connections without a complete request': same(CONNECTION_LIMITS.mostWaiting, 'connections'),
  'message of an MCP client over HTTP': {
    cap: MAX_HTTP_MESSAGE_BYTES,
    unit: 'bytes',
    here: MAX_JSON_HERE,
    task: 'splitMessage',
  },
  'message of an MCP client over stdio': {
    cap: MAX_MESSAGE_BYTES,
    unit: 'bytes',
    here: MAX_JSON_HERE,
    task: 'splitMessage',
  },
  'result over MCP': same(MAX_RESULT_BYTES, 'bytes'),
  'receipts that a query reads': { cap: MAX_SCANNED, unit: 'receipts', here: 1, task: 'listReceipts' },
  'receipts that are verified': { cap: Infinity, unit: 'receipts', here: 0, task: 'verifyLog' },
  'head of a server response': same(MAX_HEAD_BYTES, 'bytes'),
  'headers of a server response': same(MAX_HEADERS, 'headers'),
  'body of a server response': { cap: GATEWAY_LIMITS.responseBytes, unit: 'bytes', here: MAX_READ_BYTES },
  'config and manifest of an image': same(IMAGE_LIMITS.jsonBytes, 'bytes'),
  'layers of an image': same(IMAGE_LIMITS.layers, 'layers'),
  // A separate process unpacks wheels.
  'files of a wheel': { cap: WHEEL_LIMITS.bytes, unit: 'bytes', here: 0 },
  'names in a wheel': { cap: WHEEL_LIMITS.entries, unit: 'files', here: 0 },
  'entries of an image': { cap: IMAGE_LIMITS.entries, unit: 'files', here: ENTRIES_PER_TURN },
  'schema as a tool': same(MAX_CHARACTERS, 'bytes'),
  'skills of an MCP server': {
    cap: BUNDLE_LIMITS.totalBytes,
    unit: 'bytes',
    here: LIMITS_HERE.totalBytes,
    task: 'readSource',
  },
  'tasks in the queue of a thread': same(MAX_QUEUED_TASKS, 'tasks'),
  'bytes in the queue of a thread': same(MAX_QUEUED_BYTES, 'bytes'),
};
