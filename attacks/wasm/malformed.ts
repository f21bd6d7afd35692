/**
 * Malformed binaries: truncated, with false sizes, endlessly nested.
 *
 * @module
 */
import { name, u32 } from '../../src/for-attacks.ts';
import { command } from './bombs.ts';
import { component, coreModule, join, listed, section, vec } from './bytes.ts';

const LARGEST = [0xff, 0xff, 0xff, 0xff, 0x0f];

function nested(depth: number): Uint8Array {
  let inner = component();
  for (let level = 0; level < depth; level++) inner = component(section(4, inner));
  return inner;
}

/** Nested types: each list has the previous type. */
function nestedTypes(depth: number): Uint8Array {
  const lists = Array.from({ length: depth }, (_, index) => [
    0x70,
    ...(index === 0 ? [0x73] : u32(index - 1)),
  ]);
  return component(listed(7, ...lists));
}

/** Each type contains the previous one twice, so the size doubles with every line. */
function doubledTypes(depth: number): Uint8Array {
  const pairs = Array.from({ length: depth }, (_, index) => {
    const inner = index === 0 ? [0x73] : u32(index - 1);
    return [0x6f, 2, ...inner, ...inner];
  });
  return component(listed(7, ...pairs));
}

export const MALFORMED: Readonly<Record<string, () => Uint8Array>> = {
  empty_file: () => new Uint8Array(),
  text_file: () => Buffer.from('process.exit(66)\n'),
  header_alone: () => coreModule(),
  cut_off: () => command({}).subarray(0, 40),
  unknown_version: () => Uint8Array.from([0, 0x61, 0x73, 0x6d, 9, 9, 9, 9]),
  garbage_after_header: () => coreModule(Buffer.alloc(4096, 0xa5)),
  huge_section: () => coreModule(join([1], LARGEST, [0])),
  huge_count: () => coreModule(section(1, LARGEST)),
  huge_name: () => coreModule(listed(2, join(LARGEST, [0x61]))),
  endless_number: () => coreModule(section(1, Buffer.alloc(4096, 0x80))),
  sections_out_of_order: () => coreModule(listed(3, [0]), listed(1, [0x60, 0, 0])),
  section_twice: () => coreModule(listed(1, [0x60, 0, 0]), listed(1, [0x60, 0, 0])),
  index_out_of_range: () => coreModule(listed(1, [0x60, 0, 0]), listed(3, [99])),
  name_not_utf8: () =>
    coreModule(listed(1, [0x60, 0, 0]), listed(2, join([2, 0xff, 0xfe], name('x'), [0, 0]))),
  unknown_instruction: () => command({ body: [0xfd, 0xff, 0xff, 0x7f] }),
  unbalanced_body: () => command({ body: [0x02, 0x40] }),
  nested_components: () => nested(200),
  nested_types: () => nestedTypes(5000),
  doubled_types: () => doubledTypes(60),
  huge_component_count: () => component(section(2, LARGEST)),
  huge_instance_arguments: () => component(listed(2, join([0, 0], LARGEST))),
  alias_out_of_nowhere: () => component(listed(6, [3, 2, ...u32(4_000_000), 0])),
  export_out_of_nowhere: () => component(listed(11, join([0], name('execute'), [1, ...u32(77), 0]))),
  component_without_entry: () => component(listed(7, vec())),
};
