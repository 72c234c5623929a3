package routes.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.GeneralCodingRules;
import org.jspecify.annotations.NullMarked;

@AnalyzeClasses(packages = "routes", importOptions = ImportOption.DoNotIncludeTests.class)
final class ConventionsTest {

    @ArchTest
    static final ArchRule standardStreamsBelongToThePrograms = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("routes.Launcher")
            .and()
            // commands get their streams from here
            .doNotHaveFullyQualifiedName("routes.Gateway")
            .and()
            .resideOutsideOfPackage("routes.demo..")
            .should(GeneralCodingRules.ACCESS_STANDARD_STREAMS)
            .because("standard output carries only the line that says where the gateway listens; the rest is logged");

    @ArchTest
    static final ArchRule loggingGoesThroughSlf4j = noClasses()
            .should(GeneralCodingRules.USE_JAVA_UTIL_LOGGING)
            .because("one configuration decides what is logged, and escapes what clients wrote");

    @ArchTest
    static final ArchRule internalsOfTheJdkAreForSignalsOnly = noClasses()
            .should()
            .dependOnClassesThat(resideInAPackage("sun..")
                    .or(resideInAPackage("com.sun.."))
                    .or(resideInAPackage("jdk.internal.."))
                    .and(describe("are not signals", type -> !type.getName().startsWith("sun.misc.Signal"))))
            .because("they go away; SIGHUP alone has no other way in");

    @ArchTest
    static final ArchRule signalsAreForTheRootOnly = noClasses()
            .that()
            .resideOutsideOfPackage("routes")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("sun.misc")
            .because("a signal is for the process, and the root package is what runs as one");

    @ArchTest
    static final ArchRule everyPackageSaysWhereNullIsMeant = classes()
            .should(new ArchCondition<>("reside in a @NullMarked package") {
                @Override
                public void check(JavaClass type, ConditionEvents events) {
                    boolean marked = type.getPackage().isAnnotatedWith(NullMarked.class);
                    events.add(new SimpleConditionEvent(type, marked, type.getName() + " is in an unmarked package"));
                }
            })
            .because("NullAway looks only at packages that are marked");
}
