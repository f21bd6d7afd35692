/* Calls the skill that its parameters name: once with `call`, and if they ask for it twice at the same time. */
#include "skillcell.h"

/* skillcell:skill/skills, as the canonical ABI passes it: texts and lists as address and length. */
struct failure {
    struct text code, message, fix;
};

struct outcome {
    uint8_t failed;
    union {
        struct text result;
        struct failure failure;
    };
};

struct started {
    uint8_t failed;
    union {
        uint32_t call;
        struct failure failure;
    };
};

struct waited {
    uint8_t failed;
    union {
        struct {
            uint32_t call;
            struct outcome outcome;
        } ended;
        struct failure failure;
    };
};

#define SKILLS(name) __attribute__((import_module("skillcell:skill/skills@0.1.0"), import_name(name)))

SKILLS("call")
void skills_call(
    const uint8_t *name, size_t name_length, const uint8_t *params, size_t params_length, struct outcome *outcome);
SKILLS("start")
void skills_start(
    const uint8_t *name, size_t name_length, const uint8_t *params, size_t params_length, struct started *started);
SKILLS("wait") void skills_wait(const uint32_t *calls, size_t count, struct waited *waited);
SKILLS("cancel") void skills_cancel(uint32_t call);

static void write_failure(struct output *out, const struct failure *failure) {
    write(out, "{\"code\":");
    write_json_string(out, failure->code);
    write(out, ",\"message\":");
    write_json_string(out, failure->message);
    write(out, ",\"fix\":");
    write_json_string(out, failure->fix);
    write(out, "}");
}

static void write_outcome(struct output *out, const struct outcome *outcome) {
    if (outcome->failed) write_failure(out, &outcome->failure);
    else write_bytes(out, outcome->result.bytes, outcome->result.length);
}

/* Both results, in the order of the calls, and what waiting once more says. */
static void call_twice(struct text skill, struct text params, struct output *out) {
    struct outcome outcomes[2];
    struct waited waited;
    uint32_t calls[2];
    for (int at = 0; at < 2; at++) {
        struct started started;
        skills_start(skill.bytes, skill.length, params.bytes, params.length, &started);
        calls[at] = started.call;
    }
    for (int left = 2; left > 0; left--) {
        skills_wait(calls, 2, &waited);
        if (!waited.failed) outcomes[waited.ended.call == calls[1]] = waited.ended.outcome;
    }
    write(out, "[");
    write_outcome(out, &outcomes[0]);
    write(out, ",");
    write_outcome(out, &outcomes[1]);
    write(out, ",");
    skills_cancel(calls[0]);
    skills_wait(calls, 2, &waited);
    write_failure(out, &waited.failure);
    write(out, "]");
}

static bool skill_execute(struct text params, struct output *out) {
    struct text skill, given, unused;
    if (!json_string(params, "skill", &skill) || !json_string(params, "params", &given)) {
        write(out, "The parameters \"skill\" and \"params\" are missing");
        return false;
    }
    if (json_string(params, "twice", &unused)) {
        call_twice(skill, given, out);
        return true;
    }
    struct outcome outcome;
    skills_call(skill.bytes, skill.length, given.bytes, given.length, &outcome);
    write_outcome(out, &outcome);
    return true;
}
