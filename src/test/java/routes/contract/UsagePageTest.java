package routes.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import routes.fixture.ShippedRoutes;
import routes.usage.UsageRecord;

/** The page on usage shows what is shipped. {@code UsageDatabaseJourneyTest} runs its SQL. */
class UsagePageTest {

    private String page;

    @BeforeEach
    void read() throws Exception {
        page = Files.readString(Path.of("docs/usage.md"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"usage-events", "usage-log", "usage-kafka", "usage-sql"})
    void itHasTheRoutesAsTheyAre(String route) {
        assertThat(page).contains("```yaml\n" + ShippedRoutes.yaml(route) + "```\n");
    }

    @Test
    void itHasTheDataSourceAsTheDistributionsExampleHas() throws Exception {
        String properties = page.substring(page.indexOf("```properties\n") + 14);
        String example = properties
                .substring(0, properties.indexOf("```"))
                .replaceAll("(?m)^", "#")
                .replaceAll("#$", "");

        assertThat(Path.of("src/main/dist/conf/application.properties"))
                .content()
                .contains(example);
    }

    @Test
    void itNamesEveryFieldAndSource() {
        for (String field : UsageFieldsTest.FIELDS) {
            assertThat(page).contains("`" + field + "`");
        }
        for (UsageRecord.Source source : UsageRecord.Source.values()) {
            assertThat(page).contains("| `" + source + "` |");
        }
    }

    @Test
    void theTableHasAColumnForEachField() throws Exception {
        String table = Files.readString(Path.of("deploy/usage/postgresql.sql"));

        for (String field : UsageFieldsTest.FIELDS) {
            assertThat(table).containsPattern("(?m)^    \"?" + field + "\"? +[a-z]+");
        }
    }
}
