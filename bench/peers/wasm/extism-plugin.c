/* The C skill of text/word_stats behind the door of Extism, so that it does the very work that ours does.
 * Built with: clang --target=wasm32 -O2 -mbulk-memory -nostdlib -Wl,--no-entry -Wl,--strip-all -o extism-plugin.wasm extism-plugin.c */
#include "../../../skills/text/word_stats_c/src/skill.c"

#define HOST(name) __attribute__((import_module("extism:host/env"), import_name(name)))

HOST("input_length") uint64_t input_length(void);
HOST("input_load_u8") uint32_t input_load_u8(uint64_t at);
HOST("input_load_u64") uint64_t input_load_u64(uint64_t at);
HOST("alloc") uint64_t host_alloc(uint64_t length);
HOST("store_u8") void store_u8(uint64_t at, uint32_t byte);
HOST("store_u64") void store_u64(uint64_t at, uint64_t bytes);
HOST("output_set") void output_set(uint64_t at, uint64_t length);

__attribute__((export_name("count_words"))) int32_t count_words(void) {
    size_t length = input_length(), at = 0;
    uint8_t *params = allocate(length);
    for (; at + 8 <= length; at += 8) *(uint64_t *)(params + at) = input_load_u64(at);
    for (; at < length; at++) params[at] = (uint8_t)input_load_u8(at);
    struct output out = {0};
    bool ok = skill_execute((struct text){params, length}, &out);
    uint64_t place = host_alloc(out.length);
    for (at = 0; at + 8 <= out.length; at += 8) store_u64(place + at, *(uint64_t *)(out.bytes + at));
    for (; at < out.length; at++) store_u8(place + at, out.bytes[at]);
    output_set(place, out.length);
    return ok ? 0 : 1;
}
