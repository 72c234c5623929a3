package routes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.camel.CamelConfiguration;
import org.apache.camel.CamelContext;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.main.Main;
import org.apache.camel.spi.PropertiesComponent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import routes.auth.KeySummary;
import routes.auth.KeysEditor;
import routes.command.Findings;
import routes.command.Nearest;
import routes.command.Plan;
import routes.config.Setting;
import routes.config.Settings;

/**
 * A start without starting: reads the properties and the keys, and builds every route. Opens no port and no connection,
 * looks no name up and writes nothing.
 *
 * <p><b>Failure:</b> collects what is wrong and reads on where it can.
 */
final class Rehearsal {

    private static final Logger LOG = LoggerFactory.getLogger(Rehearsal.class);
    private static final String OWN = "gateway.";

    private final RunOptions options;
    private final List<String> problems = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    /** Settings whose values make no sense. */
    private final Set<Setting> wrong = new LinkedHashSet<>();

    private List<KeySummary> keys = List.of();
    private String keysFile = "";
    private String routes = "";

    Rehearsal(RunOptions options) {
        this.options = options;
    }

    Findings findings() {
        Plan plan = new Plan("", 0, 0, List.of(), List.of());
        Main main = new Main();
        options.applyTo(main);
        main.addOverrideProperty("camel.management.enabled", "false");
        main.configure().addConfiguration(new CamelConfiguration() {
            @Override
            public void configure(CamelContext context) {
                properties(context.getPropertiesComponent(), main.getOverrideProperties());
            }
        });
        main.configure().addConfiguration(new GatewayConfiguration(true));
        try {
            main.init();
            plan = plan(new RoutesRehearsal((DefaultCamelContext) main.getCamelContext(), problems).build());
        } catch (Exception e) {
            LOG.debug("The routes can't be read", e);
            String text = StartFailure.describe(e);
            problems.add(text.contains(routes) || text.contains(".yaml") ? text : routes + ": " + text);
        } finally {
            close(main);
        }
        if (!plan.models().isEmpty()) {
            modelsOfKeys(plan.names());
        }
        return new Findings(problems, warnings, plan);
    }

    private static void close(Main main) {
        try {
            if (main.getCamelContext() != null) {
                main.getCamelContext().close();
            }
            main.stop();
        } catch (Exception e) {
            LOG.debug("The rehearsal's context can't be closed", e);
        }
    }

    // ---- properties and keys

    private void properties(PropertiesComponent component, Properties overrides) {
        routes = component
                .resolveProperty(Setting.ROUTES.key())
                .orElse(Setting.ROUTES.defaultValue())
                .replaceFirst("^file:", "");
        component.loadProperties(name -> name.startsWith(OWN)).stringPropertyNames().stream()
                .sorted()
                .forEach(this::known);
        each(component);
        keys(component);
        // so that the routes can be looked at all the same
        Properties instead = new Properties();
        instead.putAll(overrides);
        wrong.forEach(setting -> instead.setProperty(setting.key(), setting.defaultValue()));
        component.setOverrideProperties(instead);
    }

    private void known(String name) {
        if (!Setting.exists(name)) {
            List<String> names = Stream.of(Setting.values()).map(Setting::key).toList();
            String nearest = Nearest.to(name, names);
            problems.add(place(name) + name + ": no such property (expected: "
                    + (nearest == null ? "one that 'dromedary run --help' lists" : "perhaps " + nearest) + ")");
        }
    }

    /** Each setting by itself, so that one that is wrong hides no other; then all together. */
    private void each(PropertiesComponent component) {
        for (Setting setting : Setting.values()) {
            try {
                Optional<String> value = component.resolveProperty(setting.key());
                new Settings(key -> key.equals(setting.key()) ? value : neutral(key, setting));
            } catch (RuntimeException e) {
                wrong.add(setting);
                problems.add(place(setting.key()) + StartFailure.describe(e));
            }
        }
        if (wrong.isEmpty()) {
            try {
                new Settings(component::resolveProperty);
            } catch (IllegalArgumentException e) {
                problems.add(e.getMessage());
            }
        }
    }

    /** What bounds another setting is out of its way. */
    private static Optional<String> neutral(String key, Setting asked) {
        boolean bounds = key.equals(Setting.MAX_BODY_BYTES.key()) && asked == Setting.BODY_BUDGET_BYTES;
        boolean bounded = key.equals(Setting.BODY_BUDGET_BYTES.key()) && asked == Setting.MAX_BODY_BYTES;
        return bounds ? Optional.of("1") : bounded ? Optional.of("999999999g") : Optional.empty();
    }

    private void keys(PropertiesComponent component) {
        String file =
                component.resolveProperty(Setting.KEYS_FILE.key()).orElse("").trim();
        if (file.isEmpty()) {
            if (!"dev".equals(options.profile())) {
                problems.add(
                        "gateway.keys-file: not set, and no keys.yaml in the folder (expected: the path of a keys.yaml;"
                                + " 'dromedary keys new' makes one)");
            }
            return;
        }
        KeysEditor editor = new KeysEditor(Path.of(file));
        List<String> found = editor.problems();
        problems.addAll(found);
        if (found.isEmpty()) {
            keys = editor.list();
            keysFile = file;
        }
    }

    private void modelsOfKeys(Set<String> served) {
        for (KeySummary key : keys) {
            for (String model : key.models()) {
                if (!model.equals("*") && !served.contains(model)) {
                    String nearest = Nearest.to(model, served);
                    warnings.add(keysFile + ": key '" + key.id() + "': no route serves the model '" + model + "'"
                            + (nearest == null ? "" : " (perhaps " + nearest + ")"));
                }
            }
        }
    }

    /** Where a property was set, as far as it can be told, with a colon and a blank. */
    private String place(String property) {
        String variable = property.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
        if (System.getenv(variable) != null) {
            return "environment: ";
        }
        Integer line = line(options.properties(), property);
        return line == null ? "" : options.properties() + ":" + line + ": ";
    }

    private static @Nullable Integer line(Path file, String property) {
        Pattern assignment =
                Pattern.compile("\\s*" + Pattern.quote(property) + "\\s*[=:\\s].*|\\s*" + Pattern.quote(property));
        try {
            List<String> lines = Files.readAllLines(file);
            for (int i = lines.size() - 1; i >= 0; i--) {
                Matcher matcher = assignment.matcher(lines.get(i));
                if (matcher.matches()) {
                    return i + 1;
                }
            }
        } catch (IOException e) {
            LOG.debug("{} can't be read", file, e);
        }
        return null;
    }

    private Plan plan(RoutesRehearsal.Built built) {
        List<KeySummary> enabled = keys.stream().filter(KeySummary::enabled).toList();
        Set<String> tenants = new TreeSet<>();
        enabled.forEach(key -> tenants.add(key.tenant()));
        return new Plan(built.door(), enabled.size(), tenants.size(), built.routes(), built.models());
    }
}
