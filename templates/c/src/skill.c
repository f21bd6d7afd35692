/* {{name}}: reverses a text. */
#include "skillcell.h"

static bool skill_execute(struct text params, struct output *out) {
    struct text text;
    if (!json_string(params, "text", &text)) {
        write(out, "The parameter \"text\" is missing");
        return false;
    }

    /* A character has up to four bytes, so find where each one starts, then copy them in reverse order. */
    size_t *starts = allocate((text.length + 1) * sizeof *starts), characters = 0;
    for (size_t at = 0; at < text.length; characters++) {
        starts[characters] = at;
        next_code_point(text, &at);
    }
    starts[characters] = text.length;

    struct output reversed = {0, 0, 0};
    for (size_t at = characters; at-- > 0;) {
        write_bytes(&reversed, text.bytes + starts[at], starts[at + 1] - starts[at]);
    }

    write(out, "{\"reversed\":");
    write_json_string(out, (struct text){reversed.bytes, reversed.length});
    write(out, ",\"characters\":");
    write_number(out, characters);
    write(out, "}");
    return true;
}
