/**
 * The output streams of a command.
 *
 * @module
 */
import { choicesOf, namesOf } from './table.ts';

const OUTPUT_STREAMS = {
  stdout: { descriptor: 1 },
  stderr: { descriptor: 2 },
} as const;

export type OutputStream = keyof typeof OUTPUT_STREAMS;

export const OUTPUT_STREAM_NAMES: readonly [OutputStream, ...OutputStream[]] = choicesOf(
  namesOf(OUTPUT_STREAMS),
);
