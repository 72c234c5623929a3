package routes.contract;

import java.util.Objects;
import org.apache.camel.main.Main;
import routes.GatewayConfiguration;
import routes.config.Setting;
import routes.config.Settings;

/** A program that configures the gateway, prints the value of every setting, and ends. */
final class PrintedSettings {

    private PrintedSettings() {}

    public static void main(String[] args) throws Exception {
        Main main = new Main();
        main.configure().addConfiguration(new GatewayConfiguration());
        main.start();
        Settings settings =
                Objects.requireNonNull(main.getCamelContext().getRegistry().findSingleByType(Settings.class));
        for (Setting setting : Setting.values()) {
            System.out.println(setting.key() + "=" + settings.text(setting));
        }
        main.stop();
        System.exit(0);
    }
}
