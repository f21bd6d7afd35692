/* Asks for a web page and tells how the server answered, through wasi:http. */
#include "skillcell.h"
#include "wasi_http.h"

enum { READ_BYTES = 65536 };

struct address {
    enum scheme scheme;
    struct text authority, path;
};

static bool fail(struct output *out, const char *message) {
    write(out, message);
    return false;
}

static bool request_failed(struct output *out, const struct error_code *error) {
    size_t known = sizeof error_names / sizeof *error_names;
    write(out, "The request failed: ");
    return fail(out, error->code < known ? error_names[error->code] : "unknown error");
}

/* Moves behind the prefix, in capitals or not, if the text begins with it. */
static bool skip_prefix(struct text *text, const char *prefix) {
    size_t at = 0;
    for (; prefix[at] != 0; at++)
        if (at >= text->length || (text->bytes[at] | 0x20) != prefix[at]) return false;
    *text = (struct text){text->bytes + at, text->length - at};
    return true;
}

/* Scheme, host with port, and the rest without the fragment. What may stand in them is judged by the host. */
static bool split_url(struct text url, struct address *address) {
    if (skip_prefix(&url, "https://")) address->scheme = SCHEME_HTTPS;
    else if (skip_prefix(&url, "http://")) address->scheme = SCHEME_HTTP;
    else return false;
    size_t host = 0, end = 0;
    while (end < url.length && url.bytes[end] != '#') end++;
    while (host < end && url.bytes[host] != '/' && url.bytes[host] != '?') host++;
    address->authority = (struct text){url.bytes, host};
    address->path = (struct text){url.bytes + host, end - host};
    return true;
}

static bool new_request_for(struct text url, handle *request) {
    struct address address;
    if (!split_url(url, &address)) return false;
    *request = new_request(new_fields());
    bool refused = set_scheme(*request, true, address.scheme, 0, 0) ||
                   set_authority(*request, true, address.authority.bytes, address.authority.length) ||
                   set_path(*request, true, address.path.bytes, address.path.length);
    if (refused) drop_request(*request);
    return !refused;
}

/* Sends the request and waits for the beginning of the answer. */
static bool ask(handle request, handle *response, struct output *out) {
    struct sent sent;
    send_request(request, false, 0, &sent);
    if (sent.failed) return request_failed(out, &sent.error);
    handle pollable = future_subscribe(sent.future);
    wait_for(pollable);
    drop_pollable(pollable);
    struct answer answer;
    future_get(sent.future, &answer);
    drop_future(sent.future);
    if (!answer.arrived || answer.taken_before) return fail(out, "The answer did not arrive");
    if (answer.failed) return request_failed(out, &answer.error);
    *response = answer.response;
    return true;
}

/* The type as text; bytes beyond ASCII are Latin-1 in headers. */
static struct text content_type(handle response) {
    static const char name[] = "content-type";
    struct values values;
    struct output type = {0, 0, 0};
    handle headers = response_headers(response);
    fields_get(headers, name, sizeof name - 1, &values);
    drop_fields(headers);
    for (size_t at = 0; values.count > 0 && at < values.items[0].length; at++)
        write_code_point(&type, values.items[0].bytes[at]);
    return (struct text){type.bytes, type.length};
}

/* Reads a body to its end. False when it breaks off. */
static bool count_bytes(handle response, uint64_t *count) {
    struct handle_result body, stream;
    response_consume(response, &body);
    if (body.failed) return false;
    body_stream(body.value, &stream);
    if (stream.failed) return false;
    struct chunk chunk;
    /* What was read is only counted: its memory is used again, so the body may be larger than all of it. */
    for (uintptr_t before = heap_end; stream_read(stream.value, READ_BYTES, &chunk), !chunk.failed; heap_end = before)
        *count += chunk.bytes.length;
    drop_stream(stream.value);
    drop_body(body.value);
    return chunk.closed;
}

static bool skill_execute(struct text params, struct output *out) {
    struct text url;
    handle request, response;
    uint64_t body_bytes = 0;
    if (!json_string(params, "url", &url)) return fail(out, "The parameter \"url\" is missing");
    if (!new_request_for(url, &request)) return fail(out, "The parameter \"url\" is no address of http or https");
    if (!ask(request, &response, out)) return false;
    uint32_t status = response_status(response);
    struct text type = content_type(response);
    bool complete = count_bytes(response, &body_bytes);
    drop_response(response);
    if (!complete) return fail(out, "The answer broke off");
    write(out, "{\"url\":");
    write_json_string(out, url);
    write(out, ",\"status\":");
    write_number(out, status);
    write(out, ",\"content_type\":");
    write_json_string(out, type);
    write(out, ",\"body_bytes\":");
    write_number(out, body_bytes);
    write(out, "}");
    return true;
}
