package routes.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.stream.Stream;

@AnalyzeClasses(packages = "routes", importOptions = ImportOption.DoNotIncludeTests.class)
final class LayeringTest {

    private static final String[] STAGES =
            packages("door", "auth", "limits", "prompt", "model", "affinity", "vllm", "usage", "demo");
    private static final String[] COMMAND = packages("command");
    private static final String[] SHARED = packages(
            "request",
            "error",
            "replica",
            "address",
            "health",
            "queue",
            "quota",
            "relay",
            "config",
            "telemetry",
            "tracing",
            "net");

    @ArchTest
    static final ArchRule stagesDoNotKnowOneAnother = slices().matching("routes.(*)..")
            .namingSlices("stage $1")
            .should()
            .notDependOnEachOther()
            .ignoreDependency(resideInAnyPackage("routes.."), resideInAnyPackage(SHARED))
            // keys are made where they are read
            .ignoreDependency(resideInAnyPackage(COMMAND), resideInAnyPackage("routes.auth.."))
            .because("routes.yaml decides which stages a request passes and in which order, not the code of a stage");

    @ArchTest
    static final ArchRule whatIsSharedKnowsNoStage = noClasses()
            .that()
            .resideInAnyPackage(SHARED)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(STAGES)
            .because("a stage can be left out or replaced only while nothing that others use leads back to it");

    @ArchTest
    static final ArchRule requestsKnowNothingOfTheCommandLine = noClasses()
            .that()
            .resideInAnyPackage(
                    Stream.concat(Stream.of(STAGES), Stream.of(SHARED)).toArray(String[]::new))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(COMMAND)
            .because("a start must not load what only commands need");

    @ArchTest
    static final ArchRule sharedPackagesHaveAnOrder = slices().matching("routes.(*)..")
            .should()
            .beFreeOfCycles()
            .because("packages in a circle can be understood and tested only together");

    @ArchTest
    static final ArchRule onlyTheRootPutsThingsTogether = noClasses()
            .that()
            .resideInAPackage("routes.(*)..")
            .should()
            .dependOnClassesThat(resideInAPackage("routes"))
            .because("the wiring in the root package is the one place that knows all the others");

    @ArchTest
    static final ArchRule everyPackageHasItsPlace = classes()
            .should()
            .resideInAnyPackage(Stream.of(Stream.of("routes"), Stream.of(STAGES), Stream.of(COMMAND), Stream.of(SHARED))
                    .flatMap(names -> names)
                    .toArray(String[]::new))
            .because("a new package is a stage, shared or the command line, and this test must know which");

    @ArchTest
    static final ArchRule onlyTracingKnowsOpenTelemetry = noClasses()
            .that()
            .resideOutsideOfPackage("routes.tracing..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.opentelemetry..")
            .because("a distribution without it must start, and a request that isn't traced must not pay for it");

    private static String[] packages(String... names) {
        return Stream.of(names).map(name -> "routes." + name + "..").toArray(String[]::new);
    }
}
