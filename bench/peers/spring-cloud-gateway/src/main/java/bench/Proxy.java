package bench;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Spring Cloud Gateway as it comes; its one route stands in application.yaml. */
@SpringBootApplication
public class Proxy {

    public static void main(String[] args) {
        SpringApplication.run(Proxy.class, args);
    }
}
