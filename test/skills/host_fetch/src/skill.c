/* Asks for a web page and tells how the server answered, through the http of Skillcell. */
#include "skillcell.h"

/* fetch of skillcell:skill/host, as the canonical ABI passes it: texts and lists as address and length. */
struct header {
    struct text name, value;
};

struct response {
    uint16_t status;
    const struct header *headers;
    size_t header_count;
    struct text body;
};

struct fetch_result {
    uint8_t failed;
    union {
        struct response response;
        struct text error;
    };
};

__attribute__((import_module("skillcell:skill/host@0.1.0"), import_name("fetch"))) void host_fetch(
    const uint8_t *method, size_t method_length, const uint8_t *url, size_t url_length, const struct header *headers,
    size_t header_count, const uint8_t *body, size_t body_length, struct fetch_result *result);

static bool same_word(struct text text, const char *word) {
    size_t at = 0;
    for (; at < text.length && word[at] != 0; at++)
        if ((text.bytes[at] | 0x20) != word[at]) return false;
    return at == text.length && word[at] == 0;
}

static struct text header_of(const struct response *response, const char *name) {
    for (size_t at = 0; at < response->header_count; at++)
        if (same_word(response->headers[at].name, name)) return response->headers[at].value;
    return (struct text){0, 0};
}

static bool skill_execute(struct text params, struct output *out) {
    static const uint8_t get[] = {'G', 'E', 'T'};
    struct text url;
    if (!json_string(params, "url", &url)) {
        write(out, "The parameter \"url\" is missing");
        return false;
    }
    struct fetch_result result;
    host_fetch(get, sizeof get, url.bytes, url.length, 0, 0, 0, 0, &result);
    if (result.failed) {
        write_bytes(out, result.error.bytes, result.error.length);
        return false;
    }
    write(out, "{\"url\":");
    write_json_string(out, url);
    write(out, ",\"status\":");
    write_number(out, result.response.status);
    write(out, ",\"content_type\":");
    write_json_string(out, header_of(&result.response, "content-type"));
    write(out, ",\"body_bytes\":");
    write_number(out, result.response.body.length);
    write(out, "}");
    return true;
}
