/* Posts a text to 127.0.0.1 at a port and gives back what the server answers. */
#include "skillcell.h"
#include "wasi_http.h"

enum { WRITE_BYTES = 4096, READ_BYTES = 65536 };
static const uint64_t FIRST_BYTE_NS = 200 * 1000 * 1000;

static bool fail(struct output *out, const char *message) {
    write(out, message);
    return false;
}

static bool request_failed(struct output *out, const struct error_code *error) {
    write(out, "The request failed: ");
    return fail(out, error_names[error->code]);
}

static bool send_text(handle body, struct text text) {
    struct handle_result stream;
    struct finished finished;
    body_write(body, &stream);
    if (stream.failed) return false;
    for (size_t at = 0; at < text.length; at += WRITE_BYTES) {
        size_t rest = text.length - at;
        struct written written;
        stream_write(stream.value, text.bytes + at, rest < WRITE_BYTES ? rest : WRITE_BYTES, &written);
        if (written.failed) return false;
    }
    drop_output_stream(stream.value);
    body_finish(body, false, 0, &finished);
    return !finished.failed;
}

static bool new_post(struct text host, struct text path, handle *request) {
    static const char name[] = "content-type", type[] = "text/plain; charset=utf-8";
    struct appended appended;
    handle fields = new_fields();
    fields_append(fields, name, sizeof name - 1, type, sizeof type - 1, &appended);
    *request = new_request(fields);
    return !appended.failed && !set_method(*request, METHOD_POST, 0, 0) &&
           !set_scheme(*request, true, SCHEME_HTTP, 0, 0) && !set_authority(*request, true, host.bytes, host.length) &&
           !set_path(*request, true, path.bytes, path.length);
}

static bool write_answer(handle response, struct output *out) {
    struct handle_result body, stream;
    struct chunk chunk;
    struct output text = {0, 0, 0};
    response_consume(response, &body);
    if (body.failed) return false;
    body_stream(body.value, &stream);
    if (stream.failed) return false;
    while (stream_read(stream.value, READ_BYTES, &chunk), !chunk.failed)
        write_bytes(&text, chunk.bytes.bytes, chunk.bytes.length);
    write_json_string(out, (struct text){text.bytes, text.length});
    return chunk.closed;
}

static bool skill_execute(struct text params, struct output *out) {
    struct text host, path, text;
    struct handle_result body;
    struct sent sent;
    struct answer answer;
    handle request, options = new_options();
    if (!json_string(params, "host", &host) || !json_string(params, "path", &path) ||
        !json_string(params, "text", &text))
        return fail(out, "A parameter is missing");
    if (!new_post(host, path, &request)) return fail(out, "The address is wrong");
    if (set_first_byte_timeout(options, true, FIRST_BYTE_NS)) return fail(out, "There are no timeouts");
    request_body(request, &body);
    if (body.failed) return fail(out, "There is no body");
    send_request(request, true, options, &sent);
    if (sent.failed) return request_failed(out, &sent.error);
    if (!send_text(body.value, text)) return fail(out, "The text was not sent");
    wait_for(future_subscribe(sent.future));
    future_get(sent.future, &answer);
    if (!answer.arrived || answer.taken_before) return fail(out, "The answer did not arrive");
    if (answer.failed) return request_failed(out, &answer.error);
    return write_answer(answer.response, out) || fail(out, "The answer broke off");
}
