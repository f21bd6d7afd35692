/**
 * Mutated modules and components, and how each target treats a refusal.
 *
 * @module
 */
import { parseComponent } from '../../../guest/wasm/binary/component.ts';
import { parseCoreModule, type CoreModule } from '../../../guest/wasm/binary/core-module.ts';
import { BinaryError, Reader } from '../../../guest/wasm/binary/reader.ts';
import { corpus as wasmCorpus } from '../../../test/wasm/corpus.ts';
import { mutant } from '../random.ts';

export const MAX_PAGES = 64;

/** Opcodes, type codes and numbers that decoders find difficult. */
const TELLING_BYTES: readonly number[] = [
  0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0b, 0x0e, 0x10, 0x18, 0x19, 0x1f, 0x23, 0x40, 0x41, 0x42,
  0x60, 0x63, 0x69, 0x6f, 0x70, 0x73, 0x7b, 0x7f, 0x80, 0xd0, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
];
const LARGE_NUMBER: readonly number[] = [0xff, 0xff, 0xff, 0xff, 0x0f];

/** Creates the input for a seed; the corpus is compiled on first use. */
export function mutatedBinaries(): (seed: number) => Uint8Array {
  let corpus: readonly Uint8Array[] | undefined;
  return (seed) => {
    corpus ??= wasmCorpus();
    return mutant({ corpus, seed, bytes: TELLING_BYTES, runs: [LARGE_NUMBER] });
  };
}

/** Core modules of a binary, which may be one itself. */
export function modulesOf(bytes: Uint8Array): readonly CoreModule[] {
  return bytes[6] === 1 ? parseComponent(new Reader(bytes)).modules : [parseCoreModule(new Reader(bytes))];
}

/** Runs a step that may refuse the binary. False if it did; anything but a BinaryError with a valid offset is a finding. */
export function accepts(bytes: Uint8Array, step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    if (!(error instanceof BinaryError)) throw error;
    if (error.offset < 0 || error.offset > bytes.length)
      throw new Error(`Refused at offset ${error.offset} of ${bytes.length}`, { cause: error });
    return false;
  }
}
