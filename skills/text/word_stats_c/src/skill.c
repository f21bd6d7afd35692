/* Counts of a text: the C twin of text/word_stats_*. All five give the same bytes. */
#include "skillcell.h"
#include "unicode.h"

enum { DEFAULT_TOP = 10, END = 0xffffffff };

/* --- the tables: numbers in digits of 5 bits, lowest first, the sixth bit says that more follow ------------- */

/* Code points from start to last: every one (step 1) or every second; delta leads to the lower case. */
struct run {
    uint32_t start, last;
    int32_t delta, step;
};

struct table {
    struct run *runs;
    size_t count;
};

static struct table letters, marks, lower;

/* A-Z, a-z, 0-9, minus, underscore. */
static uint32_t digit_of(char code) {
    if (code == '-') return 62;
    if (code == '_') return 63;
    if (code <= '9') return (uint32_t)(code - '0' + 52);
    return (uint32_t)(code <= 'Z' ? code - 'A' : code - 'a' + 26);
}

static uint32_t read_number(const char **table) {
    uint32_t value = 0, digit = 32;
    for (int shift = 0; digit >= 32; shift += 5) {
        digit = digit_of(*(*table)++);
        value |= (digit & 31) << shift;
    }
    return value;
}

/* Pairs: gap since the end of the range before, length. */
static struct table read_ranges(const char *text, size_t length) {
    struct table table = {allocate(length / 2 * sizeof(struct run)), 0};
    for (uint32_t end = 0; *text != 0;) {
        uint32_t start = end + read_number(&text);
        end = start + read_number(&text);
        table.runs[table.count++] = (struct run){start, end - 1, 0, 1};
    }
    return table;
}

/* Triples: gap, twice the count and one more for every second, twice the distance and one more for downwards. */
static struct table read_lower(const char *text, size_t length) {
    struct table table = {allocate(length / 3 * sizeof(struct run)), 0};
    for (uint32_t end = 0; *text != 0;) {
        uint32_t start = end + read_number(&text), shape = read_number(&text), distance = read_number(&text);
        uint32_t step = 1 + (shape & 1), last = start + ((shape >> 1) - 1) * step;
        int32_t delta = (int32_t)(distance >> 1);
        table.runs[table.count++] = (struct run){start, last, distance & 1 ? -delta : delta, (int32_t)step};
        end = last + 1;
    }
    return table;
}

static const struct run *run_of(const struct table *table, uint32_t point) {
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->runs[middle].start <= point) low = middle + 1;
        else high = middle;
    }
    const struct run *run = low > 0 ? &table->runs[low - 1] : 0;
    return run && point <= run->last && (point - run->start) % (uint32_t)run->step == 0 ? run : 0;
}

/* English text needs no table: they are read when the first other letter comes. */
static void read_tables(void) {
    if (letters.count > 0) return;
    letters = read_ranges(LETTERS, sizeof LETTERS);
    marks = read_ranges(MARKS, sizeof MARKS);
    lower = read_lower(LOWER, sizeof LOWER);
}

static bool is_letter(uint32_t point) {
    uint32_t small = point | 0x20;
    if (point < 0x80) return (point >= '0' && point <= '9') || (small >= 'a' && small <= 'z');
    read_tables();
    return run_of(&letters, point) != 0;
}

static bool is_mark(uint32_t point) {
    if (point < 0x300) return false;
    read_tables();
    return run_of(&marks, point) != 0;
}

static uint32_t to_lower(uint32_t point) {
    if (point < 0x80) return point >= 'A' && point <= 'Z' ? point + 0x20 : point;
    read_tables();
    const struct run *run = run_of(&lower, point);
    return run ? point + (uint32_t)run->delta : point;
}

static bool is_apostrophe(uint32_t point) {
    return point == '\'' || point == 0x2019;
}

/* --- words -------------------------------------------------------------------------------------------------- */

struct word {
    const uint8_t *bytes;
    uint32_t length, count;
};

struct counts {
    size_t characters, words, unique_words, sentences, lines;
    struct word *list;
    /* The letters of all words, in lower case. */
    struct output folded;
};

/* Order of bytes, which in UTF-8 is the order of code points. */
static int by_letters(const struct word *a, const struct word *b) {
    for (uint32_t at = 0; at < a->length && at < b->length; at++)
        if (a->bytes[at] != b->bytes[at]) return a->bytes[at] < b->bytes[at] ? -1 : 1;
    return a->length < b->length ? -1 : a->length > b->length;
}

static int by_count(const struct word *a, const struct word *b) {
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return by_letters(a, b);
}

/* Merge sort from the bottom up; returns where the sorted list is. */
static struct word *sort(struct word *list, size_t count, int (*compare)(const struct word *, const struct word *)) {
    struct word *from = list, *to = allocate(count * sizeof *list);
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = start + width < count ? start + width : count;
            size_t end = start + 2 * width < count ? start + 2 * width : count;
            for (size_t left = start, right = middle, at = start; at < end; at++) {
                bool first = right >= end || (left < middle && compare(&from[left], &from[right]) <= 0);
                to[at] = first ? from[left++] : from[right++];
            }
        }
        struct word *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Puts equal words together and ranks them. */
static void rank(struct counts *counts) {
    struct word *sorted = sort(counts->list, counts->words, by_letters);
    for (size_t at = 0; at < counts->words; at++) {
        struct word *last = counts->unique_words > 0 ? &sorted[counts->unique_words - 1] : 0;
        if (last && by_letters(last, &sorted[at]) == 0) last->count++;
        else sorted[counts->unique_words++] = sorted[at];
    }
    counts->list = sort(sorted, counts->unique_words, by_count);
}

/* --- the text ----------------------------------------------------------------------------------------------- */

static uint32_t peek(struct text text, size_t at) {
    return at < text.length ? next_code_point(text, &at) : END;
}

/* Reads on to the end of the word that begins with `point`: letters and digits, the marks on them, and apostrophes
 * between two of them. */
static struct word read_word(struct text text, size_t *at, struct counts *counts, uint32_t point) {
    size_t start = counts->folded.length;
    for (;;) {
        write_code_point(&counts->folded, is_apostrophe(point) ? '\'' : to_lower(point));
        counts->characters++;
        size_t after = *at;
        if (after >= text.length) break;
        point = next_code_point(text, &after);
        bool inner = is_apostrophe(point) && after < text.length && is_letter(peek(text, after));
        if (!inner && !is_letter(point) && !is_mark(point)) break;
        *at = after;
    }
    return (struct word){counts->folded.bytes + start, counts->folded.length - start, 1};
}

/* A full stop inside of a number or a name ends nothing: 3.14, example.com. */
static bool ends_sentence(uint32_t point, uint32_t next) {
    switch (point) {
        case '!':
        case '.':
        case '?':
        case 0x61f:  /* Arabic question mark */
        case 0x964:  /* danda */
        case 0x2026: /* ellipsis */
            return next == END || !is_letter(next);
        case 0x3002: /* ideographic full stop */
        case 0xff01: /* fullwidth ! */
        case 0xff1f: /* fullwidth ? */
            return true;
        default:
            return false;
    }
}

static struct counts count(struct text text) {
    /* A word and what parts it from the next are two bytes at least; two bytes become three at most in lower case. */
    size_t room = text.length * 2;
    struct counts counts = {
        .list = allocate((text.length / 2 + 1) * sizeof(struct word)),
        .folded = {allocate(room), 0, room},
    };
    bool open_sentence = false;
    uint32_t point = '\n';
    for (size_t at = 0; at < text.length;) {
        point = next_code_point(text, &at);
        if (is_letter(point)) {
            counts.list[counts.words++] = read_word(text, &at, &counts, point);
            open_sentence = true;
            continue;
        }
        counts.characters++;
        uint32_t next = peek(text, at);
        if (open_sentence && ends_sentence(point, next)) {
            counts.sentences++;
            open_sentence = false;
        }
        if (point == '\n' || (point == '\r' && next != '\n')) counts.lines++;
    }
    if (point != '\n' && point != '\r') counts.lines++;
    if (open_sentence) counts.sentences++;
    return counts;
}

static void describe(const struct counts *counts, size_t top, struct output *out) {
    const struct { const char *name; size_t value; } numbers[] = {
        {"{\"characters\":", counts->characters},      {",\"words\":", counts->words},
        {",\"unique_words\":", counts->unique_words}, {",\"sentences\":", counts->sentences},
        {",\"lines\":", counts->lines},
    };
    for (size_t at = 0; at < sizeof numbers / sizeof numbers[0]; at++) {
        write(out, numbers[at].name);
        write_number(out, numbers[at].value);
    }
    write(out, ",\"top_words\":[");
    for (size_t at = 0; at < counts->unique_words && at < top; at++) {
        write(out, at > 0 ? ",{\"word\":\"" : "{\"word\":\"");
        write_bytes(out, counts->list[at].bytes, counts->list[at].length);
        write(out, "\",\"count\":");
        write_number(out, counts->list[at].count);
        write(out, "}");
    }
    write(out, "],\"reading_time_seconds\":");
    write_number(out, (counts->words * 3 + 9) / 10);
    write(out, "}");
}

static bool skill_execute(struct text params, struct output *out) {
    struct text text;
    int64_t top = DEFAULT_TOP;
    if (!json_string(params, "text", &text)) {
        write(out, "The parameter \"text\" is missing");
        return false;
    }
    json_integer(params, "top", &top);
    struct counts counts = count(text);
    rank(&counts);
    describe(&counts, (size_t)top, out);
    return true;
}
