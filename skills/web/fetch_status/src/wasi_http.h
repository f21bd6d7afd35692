/* The part of wasi:http and wasi:io 0.2 that asks a server, as the canonical ABI passes it: handles and enums are
 * numbers, texts and lists are an address and a length, and a result of more than one number goes through memory. */
#ifndef WASI_HTTP_H
#define WASI_HTTP_H

#include "skillcell.h"

#define WASI(interface, function) __attribute__((import_module(interface "@0.2.0"), import_name(function)))
#define HTTP(function) WASI("wasi:http/types", function)

/* Something of the host, by its number. Whoever has it drops it. */
typedef uint32_t handle;

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_PUT, METHOD_DELETE, METHOD_PATCH = 8 };

enum scheme { SCHEME_HTTP, SCHEME_HTTPS };

/* Names of the cases of error-code, in their order. */
static const char *const error_names[] = {
    "DNS-timeout", "DNS-error", "destination-not-found", "destination-unavailable", "destination-IP-prohibited",
    "destination-IP-unroutable", "connection-refused", "connection-terminated", "connection-timeout",
    "connection-read-timeout", "connection-write-timeout", "connection-limit-reached", "TLS-protocol-error",
    "TLS-certificate-error", "TLS-alert-received", "HTTP-request-denied", "HTTP-request-length-required",
    "HTTP-request-body-size", "HTTP-request-method-invalid", "HTTP-request-URI-invalid", "HTTP-request-URI-too-long",
    "HTTP-request-header-section-size", "HTTP-request-header-size", "HTTP-request-trailer-section-size",
    "HTTP-request-trailer-size", "HTTP-response-incomplete", "HTTP-response-header-section-size",
    "HTTP-response-header-size", "HTTP-response-body-size", "HTTP-response-trailer-section-size",
    "HTTP-response-trailer-size", "HTTP-response-transfer-coding", "HTTP-response-content-coding",
    "HTTP-response-timeout", "HTTP-upgrade-failed", "HTTP-protocol-error", "loop-detected", "configuration-error",
    "internal-error"};
_Static_assert(sizeof error_names == 39 * sizeof(char *), "error-code has 39 cases");

/* What the cases carry besides is not read here, but it takes its place. */
struct error_code {
    uint8_t code;
    _Alignas(8) uint8_t details[24];
};

/* result<own<T>> */
struct handle_result {
    uint8_t failed;
    handle value;
};

/* result<_, error-code> */
struct finished {
    uint8_t failed;
    struct error_code error;
};

/* result<own<future-incoming-response>, error-code> */
struct sent {
    uint8_t failed;
    union {
        handle future;
        struct error_code error;
    };
};

/* option<result<result<own<incoming-response>, error-code>>> */
struct answer {
    uint8_t arrived;
    _Alignas(8) uint8_t taken_before;
    _Alignas(8) uint8_t failed;
    union {
        handle response;
        struct error_code error;
    };
};
_Static_assert(sizeof(struct error_code) == 32 && sizeof(struct sent) == 40 && sizeof(struct answer) == 56, "layout");

/* result<_, stream-error> */
struct written {
    uint8_t failed;
    _Alignas(4) uint8_t closed;
    handle error;
};
_Static_assert(sizeof(struct finished) == 40 && sizeof(struct written) == 12, "layout");

/* result<_, header-error> */
struct appended {
    uint8_t failed, error;
};

/* list<list<u8>> */
struct values {
    const struct text *items;
    size_t count;
};

/* result<list<u8>, stream-error> */
struct chunk {
    uint8_t failed;
    union {
        struct text bytes;
        struct {
            /* 0: the error says why; 1: the end. */
            uint8_t closed;
            handle error;
        };
    };
};

HTTP("[constructor]fields") handle new_fields(void);
HTTP("[method]fields.get") void fields_get(handle fields, const char *name, size_t length, struct values *values);
HTTP("[method]fields.append")
void fields_append(handle fields, const char *name, size_t length, const void *value, size_t value_length,
                   struct appended *appended);
HTTP("[resource-drop]fields") void drop_fields(handle fields);

/* Takes the headers. The setters return whether the value is wrong. */
HTTP("[constructor]outgoing-request") handle new_request(handle headers);
HTTP("[method]outgoing-request.set-method")
bool set_method(handle request, enum method method, const uint8_t *other, size_t other_length);
HTTP("[method]outgoing-request.set-scheme")
bool set_scheme(handle request, bool is_given, enum scheme scheme, const uint8_t *other, size_t other_length);
HTTP("[method]outgoing-request.set-authority")
bool set_authority(handle request, bool is_given, const uint8_t *authority, size_t length);
HTTP("[method]outgoing-request.set-path-with-query")
bool set_path(handle request, bool is_given, const uint8_t *path, size_t length);
HTTP("[resource-drop]outgoing-request") void drop_request(handle request);

/* A body is asked for before the request is sent, and written and finished afterwards. */
HTTP("[method]outgoing-request.body") void request_body(handle request, struct handle_result *body);
HTTP("[method]outgoing-body.write") void body_write(handle body, struct handle_result *stream);
/* At most 4096 bytes at once. */
WASI("wasi:io/streams", "[method]output-stream.blocking-write-and-flush")
void stream_write(handle stream, const void *bytes, size_t length, struct written *written);
WASI("wasi:io/streams", "[resource-drop]output-stream") void drop_output_stream(handle stream);
/* Takes the body; its stream has to be dropped before. */
HTTP("[static]outgoing-body.finish")
void body_finish(handle body, bool has_trailers, handle trailers, struct finished *finished);

/* Nanoseconds. A request takes its options. */
HTTP("[constructor]request-options") handle new_options(void);
HTTP("[method]request-options.set-connect-timeout")
bool set_connect_timeout(handle options, bool is_given, uint64_t time);
HTTP("[method]request-options.set-first-byte-timeout")
bool set_first_byte_timeout(handle options, bool is_given, uint64_t time);
HTTP("[method]request-options.set-between-bytes-timeout")
bool set_between_bytes_timeout(handle options, bool is_given, uint64_t time);

/* Takes the request. */
WASI("wasi:http/outgoing-handler", "handle")
void send_request(handle request, bool has_options, handle options, struct sent *sent);

HTTP("[method]future-incoming-response.subscribe") handle future_subscribe(handle future);
HTTP("[method]future-incoming-response.get") void future_get(handle future, struct answer *answer);
HTTP("[resource-drop]future-incoming-response") void drop_future(handle future);
WASI("wasi:io/poll", "[method]pollable.block") void wait_for(handle pollable);
WASI("wasi:io/poll", "[resource-drop]pollable") void drop_pollable(handle pollable);

HTTP("[method]incoming-response.status") uint32_t response_status(handle response);
HTTP("[method]incoming-response.headers") handle response_headers(handle response);
HTTP("[method]incoming-response.consume") void response_consume(handle response, struct handle_result *body);
HTTP("[resource-drop]incoming-response") void drop_response(handle response);

HTTP("[method]incoming-body.stream") void body_stream(handle body, struct handle_result *stream);
HTTP("[resource-drop]incoming-body") void drop_body(handle body);
WASI("wasi:io/streams", "[method]input-stream.blocking-read")
void stream_read(handle stream, uint64_t length, struct chunk *chunk);
WASI("wasi:io/streams", "[resource-drop]input-stream") void drop_stream(handle stream);

#endif
