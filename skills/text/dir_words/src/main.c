/* Counts the words of the .txt files in the folder that was granted as the workspace. An ordinary C program, built
 * with the WASI library: the parameters (there are none) come on stdin, the result goes to stdout as JSON. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 1000 };

static const char FOLDER[] = "/workspace";

struct file {
    char *name;
    size_t bytes, words;
};

static void fail(const char *what, const char *name) {
    fprintf(stderr, "%s \"%s\": %s\n", what, name, strerror(errno));
    exit(1);
}

/* Words are what white space separates; bytes beyond ASCII belong to words, whatever they are. */
static void count_words(struct file *file) {
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", FOLDER, file->name) >= sizeof path) {
        errno = ENAMETOOLONG;
        fail("Cannot read", file->name);
    }
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) fail("Cannot read", file->name);
    static char buffer[65536];
    bool in_word = false;
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, stream)) > 0; file->bytes += got) {
        for (size_t at = 0; at < got; at++) {
            bool space = buffer[at] == ' ' || (buffer[at] >= '\t' && buffer[at] <= '\r');
            if (!space && !in_word) file->words++;
            in_word = !space;
        }
    }
    if (ferror(stream)) fail("Cannot read", file->name);
    fclose(stream);
}

static bool is_text_file(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return entry->d_type == DT_REG && length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

static size_t list_files(struct file *files) {
    DIR *folder = opendir(FOLDER);
    if (folder == NULL) fail("Cannot open the folder", FOLDER);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (!is_text_file(entry)) continue;
        if (count == MAX_FILES) {
            fprintf(stderr, "The folder has more than %d text files\n", MAX_FILES);
            exit(1);
        }
        files[count++] = (struct file){strdup(entry->d_name), 0, 0};
    }
    closedir(folder);
    return count;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static void print_json_string(const char *text) {
    putchar('"');
    for (; *text != 0; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20) printf("\\u%04x", byte);
        else if (byte == '"' || byte == '\\') printf("\\%c", byte);
        else putchar(byte);
    }
    putchar('"');
}

int main(void) {
    static struct file files[MAX_FILES];
    size_t count = list_files(files), total = 0;
    qsort(files, count, sizeof files[0], by_name);
    printf("{\"files\":[");
    for (size_t at = 0; at < count; at++) {
        count_words(&files[at]);
        total += files[at].words;
        printf(at > 0 ? ",{\"name\":" : "{\"name\":");
        print_json_string(files[at].name);
        printf(",\"bytes\":%zu,\"words\":%zu}", files[at].bytes, files[at].words);
    }
    printf("],\"total_words\":%zu}", total);
    return 0;
}
