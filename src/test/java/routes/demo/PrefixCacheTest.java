package routes.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrefixCacheTest {

    private final PrefixCache cache = new PrefixCache(6);

    @Test
    void the_longest_prefix_seen_counts_but_never_the_whole_prompt() {
        assertThat(visit("a b c")).isZero();
        assertThat(visit("a b c")).isEqualTo(2);
        assertThat(visit("a b d")).isEqualTo(2);
        assertThat(visit("b c")).isZero();
        assertThat(cache.visit(new Prompt(""))).isZero();
    }

    @Test
    void the_least_recently_used_is_forgotten_from_its_far_end() {
        visit("a b c d");
        visit("x y z");
        assertThat(visit("a b c d e")).isEqualTo(3);
    }

    @Test
    void a_prompt_longer_than_the_memory_is_remembered_by_its_beginning() {
        visit("1 2 3 4 5 6 7 8 9");
        assertThat(visit("1 2 3 4 5 6 7 8 9")).isEqualTo(6);
    }

    @Test
    void only_a_bounded_prefix_of_a_prompt_is_looked_at() {
        Prompt prompt = new Prompt("").text("word ".repeat(Prompt.REMEMBERED + 5));
        assertThat(prompt.tokens()).isEqualTo(Prompt.REMEMBERED + 5);
        assertThat(prompt.prefixes()).isEqualTo(Prompt.REMEMBERED);
    }

    private int visit(String text) {
        return cache.visit(new Prompt("").text(text));
    }
}
