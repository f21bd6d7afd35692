/**
 * The output streams of a command.
 *
 * @module
 */
import { choicesIn, type Choices } from './table.ts';

const OUTPUT_STREAMS = {
  stdout: { descriptor: 1 },
  stderr: { descriptor: 2 },
} as const;

export type OutputStream = keyof typeof OUTPUT_STREAMS;

export const OUTPUT_STREAM_NAMES: Choices<OutputStream> = choicesIn(OUTPUT_STREAMS);
