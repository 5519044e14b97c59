/* A bot that plays a legal card picked by chance; it knows the wire protocol and little of the rules.
 *
 * Copy it and rewrite choose(). Build and run it with `cc -std=c11 -O2 -o random_bot random_bot.c` and
 * `./random_bot`; it reads asks from stdin and answers on stdout. It needs no library.
 *
 * It does not build a tree of the JSON it gets. It walks the text and stops at the few members that it needs;
 * everything else is skipped, however long, deep or new it is.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LEGAL = 512, /* lines of "legal" that we look at; a hand of 100 different cards gives fewer */
    MAX_HAND = 512,
    MAX_TEXT = 32, /* longest text that we need: "play WD R uno" */
    MAX_LINE = 1 << 26,
};

typedef struct {
    char text[MAX_TEXT];
} Text;

static void die(const char *why) {
    fprintf(stderr, "random_bot: %s\n", why);
    exit(1);
}

/* ---- a walk through one JSON value; every line ends in '\0', which stops each loop ---- */

static const char *skip_space(const char *at) {
    return at + strspn(at, " \t\r\n");
}

/* Past the string that starts at the quote `at`. */
static const char *skip_string(const char *at) {
    for (at++; *at != '\0' && *at != '"'; at++) {
        if (*at == '\\' && at[1] != '\0') at++;
    }
    return *at == '"' ? at + 1 : at;
}

/* Past the value at `at`. Brackets are counted, not recursed into: no depth can exhaust the stack. */
static const char *skip_value(const char *at) {
    long depth = 0;
    do {
        at = skip_space(at);
        switch (*at) {
        case '\0': return at;
        case '"': at = skip_string(at); break;
        case '{':
        case '[': depth++; at++; break;
        case '}':
        case ']': depth--; at++; break;
        case ',':
        case ':': at++; break;
        default: at += strcspn(at, " \t\r\n,:]}[{\""); break; /* a number, true, false or null */
        }
    } while (depth > 0);
    return skip_space(at);
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* One character of a string, moved past. All that we look for is ASCII: anything else may come out as '?'. */
static char next_character(const char **at) {
    char c = *(*at)++;
    if (c != '\\') return c;
    c = *(*at)++;
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    if (c != 'u') return c == 'b' || c == 'f' || c == 'r' ? ' ' : c;
    int code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(**at);
        if (digit < 0) return '?';
        code = code * 16 + digit;
        (*at)++;
    }
    return code > 0 && code < 128 ? (char)code : '?';
}

/* Copy the string at `at`. False if there is none there or if it is too long to be anything that we know. */
static bool read_string(const char *at, Text *out) {
    size_t length = 0;
    if (at == NULL || *at != '"') return false;
    const char *end = skip_string(at);
    if (end[-1] != '"' || end - at < 2) return false; /* cut off */
    for (at++; at < end - 1;) {
        if (length + 1 >= sizeof out->text) return false;
        out->text[length++] = next_character(&at);
    }
    out->text[length] = '\0';
    return true;
}

/* The value of a member of the object at `object`, or NULL. */
static const char *member(const char *object, const char *name) {
    if (object == NULL || *object != '{') return NULL;
    const char *at = skip_space(object + 1);
    while (*at == '"') {
        Text key;
        bool found = read_string(at, &key) && strcmp(key.text, name) == 0;
        at = skip_space(skip_string(at));
        if (*at != ':') return NULL;
        at = skip_space(at + 1);
        if (found) return at;
        at = skip_value(at);
        if (*at == ',') at = skip_space(at + 1);
    }
    return NULL;
}

/* The strings of the array at `array`, as many as fit; any other value in it is left out. */
static size_t read_strings(const char *array, Text *out, size_t capacity) {
    size_t count = 0;
    if (array == NULL || *array != '[') return 0;
    const char *at = skip_space(array + 1);
    while (*at != '\0' && *at != ']' && *at != '}' && count < capacity) {
        if (read_string(at, &out[count])) count++;
        at = skip_value(at);
        if (*at == ',') at = skip_space(at + 1);
    }
    return count;
}

static uint64_t read_number(const char *at) {
    return at == NULL ? 0 : strtoull(at, NULL, 10);
}

/* ---- chance: the same seed gives the same match again ---- */

static uint64_t chance_state;

/* A number from 0 to n - 1 (splitmix64; for lists this short the bias of % is below one in 10^16). */
static size_t below(size_t n) {
    uint64_t mixed = (chance_state += 0x9e3779b97f4a7c15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return (size_t)((mixed ^ (mixed >> 31)) % n);
}

/* ---- the bot ---- */

static bool is_play(const char *line) {
    return strncmp(line, "play ", 5) == 0;
}

/* Whether two plays put down the same card: "play WD R" and "play WD G" do. */
static bool same_card(const char *one, const char *other) {
    size_t length = strcspn(one + 5, " ");
    return length == strcspn(other + 5, " ") && memcmp(one + 5, other + 5, length) == 0;
}

/* Whether the play leaves exactly one card in the hand. Nobody reminds us of the call. */
static bool needs_uno(const char *play, const Text *hand, size_t cards) {
    const char *card = play + 5;
    size_t thrown = 1;
    if (card[0] != 'W' && card[1] == 'A') { /* Discard All throws every card of its colour at once */
        thrown = 0;
        for (size_t i = 0; i < cards; i++) thrown += hand[i].text[0] == card[0];
    }
    return cards == thrown + 1;
}

/* Pick a card, not a line: a wild is listed once for each colour and must not be four times as likely.
 * The plays of one card stand together in `legal`. */
static const char *choose_play(const Text *legal, size_t plays) {
    size_t first[MAX_LEGAL + 1]; /* where the plays of each card begin */
    size_t cards = 0;
    for (size_t i = 0; i < plays; i++) {
        if (i == 0 || !same_card(legal[i - 1].text, legal[i].text)) first[cards++] = i;
    }
    first[cards] = plays;
    size_t card = below(cards);
    return legal[first[card] + below(first[card + 1] - first[card])].text;
}

static void answer(const char *ask) {
    static Text legal[MAX_LEGAL], hand[MAX_HAND];
    const char *id = member(ask, "id");
    size_t count = read_strings(member(ask, "legal"), legal, MAX_LEGAL);
    size_t plays = 0; /* they come first */
    if (id == NULL || count == 0) return;
    while (plays < count && is_play(legal[plays].text)) plays++;

    const char *action = legal[below(count)].text; /* a colour, a target, challenge or accept; or "draw" */
    const char *call = "";
    if (plays > 0) {
        size_t cards = read_strings(member(member(ask, "state"), "hand"), hand, MAX_HAND);
        action = choose_play(legal, plays);
        if (needs_uno(action, hand, cards)) call = " uno";
    } else if (strcmp(legal[0].text, "catch") == 0) {
        action = "catch";
    }
    unsigned long long number = read_number(id);
    printf("{\"type\":\"act\",\"id\":%llu,\"action\":\"%s%s\"}\n", number, action, call);
    fflush(stdout); /* a line that stays in a buffer looks like a bot that is thinking */
}

/* Answer what is asked and ignore every type and member that we do not know. False at bye. */
static bool handle(const char *line) {
    const char *message = skip_space(line);
    Text type;
    if (!read_string(member(message, "type"), &type)) return true;
    if (strcmp(type.text, "hello") == 0) {
        puts("{\"type\":\"hello\",\"protocol\":1,\"name\":\"random-c\",\"version\":\"1.0\"}");
        fflush(stdout);
    } else if (strcmp(type.text, "start") == 0) { /* one process plays many matches; each brings its seed */
        chance_state = read_number(member(message, "bot_seed"));
    } else if (strcmp(type.text, "ask") == 0) {
        answer(message);
    }
    return strcmp(type.text, "bye") != 0;
}

/* One line of any length, without its LF. NULL at the end of input. The buffer grows and is used again. */
static char *read_line(char **buffer, size_t *capacity) {
    size_t length = 0;
    for (;;) {
        if (*capacity - length < 2) {
            if (*capacity > MAX_LINE) die("no referee sends a line that long");
            *capacity = *capacity == 0 ? 65536 : *capacity * 2;
            *buffer = realloc(*buffer, *capacity);
            if (*buffer == NULL) die("out of memory");
        }
        if (fgets(*buffer + length, (int)(*capacity - length), stdin) == NULL) break;
        length += strlen(*buffer + length);
        if (length > 0 && (*buffer)[length - 1] == '\n') {
            (*buffer)[length - 1] = '\0';
            return *buffer;
        }
    }
    return NULL; /* a last line without LF was cut off */
}

int main(void) {
    char *buffer = NULL;
    size_t capacity = 0;
    for (char *line; (line = read_line(&buffer, &capacity)) != NULL;) {
        if (!handle(line)) break;
    }
    free(buffer);
    return 0;
}
