/* What a skill in C needs, without any library: memory, text, JSON, and the door to Skillcell.
 * Include it in one file and write skill_execute(). Each call runs in a fresh instance, so nothing is ever freed. */
#ifndef SKILLCELL_H
#define SKILLCELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of UTF-8 with their length; no zero at the end. */
struct text {
    const uint8_t *bytes;
    size_t length;
};

/* Text that grows. */
struct output {
    uint8_t *bytes;
    size_t length, capacity;
};

/* Your skill. The parameters are JSON that fits the manifest. Write JSON and return true, or a message and false. */
static bool skill_execute(struct text params, struct output *out);

/* --- memory ------------------------------------------------------------------------------------------------ */

extern uint8_t __heap_base;
static uintptr_t heap_end;

static void *allocate(size_t size) {
    const uintptr_t page = 65536;
    if (heap_end == 0) heap_end = (uintptr_t)&__heap_base;
    uintptr_t start = (heap_end + 15) & ~(uintptr_t)15;
    uintptr_t end = start + size, have = __builtin_wasm_memory_size(0) * page;
    if (end < start) __builtin_trap();
    /* More than asked for: growing by single pages is slow. */
    if (end > have) {
        size_t pages = (end - have + page - 1) / page;
        if (__builtin_wasm_memory_grow(0, pages + 16) == SIZE_MAX && __builtin_wasm_memory_grow(0, pages) == SIZE_MAX)
            __builtin_trap();
    }
    heap_end = end;
    return (void *)start;
}

__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
    (void)align;
    uint8_t *fresh = allocate(size);
    if (old_size > 0) __builtin_memcpy(fresh, old, old_size < size ? old_size : size);
    return fresh;
}

/* --- writing ----------------------------------------------------------------------------------------------- */

static void write_bytes(struct output *out, const void *bytes, size_t length) {
    if (out->length + length > out->capacity) {
        size_t capacity = (out->length + length) * 2 + 64;
        out->bytes = cabi_realloc(out->bytes, out->length, 1, capacity);
        out->capacity = capacity;
    }
    __builtin_memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

static inline void write(struct output *out, const char *words) {
    size_t length = 0;
    while (words[length] != 0) length++;
    write_bytes(out, words, length);
}

static inline void write_number(struct output *out, uint64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + value % 10); while ((value /= 10) != 0);
    write_bytes(out, digits + at, sizeof digits - at);
}

static inline void write_code_point(struct output *out, uint32_t point) {
    uint8_t bytes[4];
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t at = length; at-- > 1; point >>= 6) bytes[at] = 0x80 | (point & 0x3f);
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    bytes[0] = first[length] | (uint8_t)point;
    write_bytes(out, bytes, length);
}

/* A string as JSON, in quotes and with escapes. */
static inline void write_json_string(struct output *out, struct text value) {
    static const char hex[] = "0123456789abcdef";
    write(out, "\"");
    for (size_t at = 0; at < value.length; at++) {
        uint8_t byte = value.bytes[at];
        if (byte == '"' || byte == '\\') write_bytes(out, (char[]){'\\', (char)byte}, 2);
        else if (byte < 0x20) write_bytes(out, (char[]){'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]}, 6);
        else write_bytes(out, &byte, 1);
    }
    write(out, "\"");
}

/* --- reading: valid UTF-8 and valid JSON only, which is all that Skillcell hands over ------------------------ */

/* Reads the code point at *at and moves on. */
static inline uint32_t next_code_point(struct text text, size_t *at) {
    uint8_t first = text.bytes[(*at)++];
    if (first < 0x80) return first;
    int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    uint32_t point = first & (0x3f >> more);
    while (more-- > 0 && *at < text.length) point = point << 6 | (text.bytes[(*at)++] & 0x3f);
    return point;
}

/* The place after the value that begins at `at`: commas and brackets inside of strings are skipped with them. */
static size_t json_end_of_value(struct text json, size_t at) {
    int depth = 0;
    for (bool quoted = false; at < json.length; at++) {
        uint8_t byte = json.bytes[at];
        if (quoted && byte == '\\') at++;
        else if (byte == '"') quoted = !quoted;
        else if (quoted) continue;
        else if (byte == '{' || byte == '[') depth++;
        else if (depth == 0 && (byte == ',' || byte == ':' || byte == '}' || byte == ']')) break;
        else if (byte == '}' || byte == ']') depth--;
    }
    return at;
}

/* The value of a member of an object, as it stands in the JSON without space around it; empty when there is none. */
static struct text json_member(struct text object, const char *name) {
    size_t length = 0, at = 0;
    while (name[length] != 0) length++;
    while (at < object.length && object.bytes[at] != '{') at++;
    while (at < object.length && object.bytes[at] != '}') {
        for (at++; at < object.length && object.bytes[at] <= ' ';) at++;
        size_t key = at, colon = json_end_of_value(object, at), end = json_end_of_value(object, colon + 1);
        bool same = colon > key + length + 1 && object.bytes[key + length + 1] == '"';
        for (size_t i = 0; same && i < length; i++) same = object.bytes[key + 1 + i] == (uint8_t)name[i];
        for (at = end, colon++; colon < end && object.bytes[colon] <= ' ';) colon++;
        while (end > colon && object.bytes[end - 1] <= ' ') end--;
        if (same) return (struct text){object.bytes + colon, end - colon};
    }
    return (struct text){0, 0};
}

static uint32_t json_hex(struct text json, size_t at) {
    uint32_t value = 0;
    for (size_t i = at; i < at + 4 && i < json.length; i++) {
        uint8_t byte = json.bytes[i];
        value = value << 4 | (byte <= '9' ? byte - '0' : (byte | 32) - 'a' + 10);
    }
    return value;
}

/* The code point that the escape at *at (behind the backslash) stands for. Half of a pair alone becomes U+FFFD. */
static uint32_t json_escape(struct text json, size_t *at) {
    uint8_t kind = json.bytes[(*at)++];
    static const char plain[] = "b\bf\fn\nr\rt\t";
    for (size_t i = 0; i < 10; i += 2)
        if (kind == (uint8_t)plain[i]) return (uint32_t)plain[i + 1];
    if (kind != 'u') return kind;
    uint32_t unit = json_hex(json, *at);
    *at += 4;
    if (unit < 0xd800 || unit > 0xdfff) return unit;
    bool pair = unit < 0xdc00 && *at + 6 <= json.length && json.bytes[*at] == '\\' && json.bytes[*at + 1] == 'u';
    uint32_t low = pair ? json_hex(json, *at + 2) : 0;
    if (low < 0xdc00 || low > 0xdfff) return 0xfffd;
    *at += 6;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

/* A member that is a string, without quotes and escapes. False when there is none. */
static inline bool json_string(struct text object, const char *name, struct text *value) {
    struct text raw = json_member(object, name);
    if (raw.length < 2 || raw.bytes[0] != '"') return false;
    struct output plain = {allocate(raw.length), 0, raw.length};
    for (size_t at = 1; at < raw.length - 1;) {
        size_t run = at;
        while (at < raw.length - 1 && raw.bytes[at] != '\\') at++;
        write_bytes(&plain, raw.bytes + run, at - run);
        if (at >= raw.length - 1) break;
        at++;
        write_code_point(&plain, json_escape(raw, &at));
    }
    *value = (struct text){plain.bytes, plain.length};
    return true;
}

/* A member that is a whole number. False when there is none. */
static inline bool json_integer(struct text object, const char *name, int64_t *value) {
    struct text raw = json_member(object, name);
    bool negative = raw.length > 1 && raw.bytes[0] == '-';
    if (raw.length == (size_t)negative || raw.length > 18) return false;
    *value = 0;
    for (size_t at = negative; at < raw.length; at++) {
        if (raw.bytes[at] < '0' || raw.bytes[at] > '9') return false;
        *value = *value * 10 + (raw.bytes[at] - '0');
    }
    if (negative) *value = -*value;
    return true;
}

/* --- the door: execute: func(params: string) -> result<string, string> --------------------------------------- */

__attribute__((export_name("execute"))) uint32_t *execute(uint8_t *params, size_t length) {
    static uint32_t result[3];
    static struct output out;
    bool ok = skill_execute((struct text){params, length}, &out);
    result[0] = ok ? 0 : 1;
    result[1] = (uint32_t)(uintptr_t)out.bytes;
    result[2] = out.length;
    return result;
}

#endif
