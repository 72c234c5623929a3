package routes.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotsTest {

    private final Slots slots = new Slots(2);
    private final List<String> admitted = new ArrayList<>();

    @Test
    void first_come_first_served_even_when_a_later_one_would_fit() {
        Slots.Sequences one = sequences("one", 1);
        slots.enter(one);
        slots.enter(sequences("two", 2));
        slots.enter(sequences("late", 1));
        assertThat(admitted).containsExactly("one");
        slots.leave(one);
        assertThat(admitted).containsExactly("one", "two");
        assertThat(slots.running()).isEqualTo(2);
        assertThat(slots.waiting()).isEqualTo(1);
        assertThat(slots.usage()).isEqualTo(1);
    }

    @Test
    void leaving_twice_gives_back_once() {
        Slots.Sequences one = sequences("one", 1);
        slots.enter(one);
        slots.enter(sequences("other", 1));
        slots.leave(one);
        slots.leave(one);
        assertThat(slots.running()).isEqualTo(1);
    }

    @Test
    void more_sequences_than_slots_run_alone() {
        Slots.Sequences many = sequences("many", 9);
        slots.enter(many);
        slots.enter(sequences("next", 1));
        assertThat(admitted).containsExactly("many");
        slots.leave(many);
        assertThat(admitted).containsExactly("many", "next");
    }

    @Test
    void a_long_queue_of_short_ones_is_admitted_in_one_go() {
        Slots.Sequences first = sequences("first", 2);
        slots.enter(first);
        for (int i = 0; i < 100_000; i++) {
            slots.enter(new Slots.Sequences() {
                @Override
                public int count() {
                    return 1;
                }

                @Override
                public void admitted() {
                    slots.leave(this);
                }
            });
        }
        slots.leave(first);
        assertThat(slots.running() + slots.waiting()).isZero();
    }

    private Slots.Sequences sequences(String name, int count) {
        return new Slots.Sequences() {
            @Override
            public int count() {
                return count;
            }

            @Override
            public void admitted() {
                admitted.add(name);
            }
        };
    }
}
